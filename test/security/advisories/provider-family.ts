import {
  appVerifier,
  memberOf,
  type OauthHost,
  webTarget,
} from '../../contract/oauth/oauth-host.js'
import { textOf } from '../../support/hosts/http-client.js'
import { signedInPerson } from '../../support/people/people.js'
import type { Family } from './family.js'

const google = (name: string) => {
  return { subject: `of ${name}`, email: `${name}@gmail.com`, verified: true }
}

/**
 * Two browsers that went to Google: one slot is for the state, the other for the cookie. A provider's
 * code is judged by the provider, and shown with the state that is good once, so that has no slot.
 */
export async function flowFamily(host: OauthHost): Promise<Family> {
  const one = await host.depart('client', 'google')
  const answer = host.stub.agree(one.authorizationUrl, google('state'))
  const other = await host.depart('client', 'google')
  const itsAnswer = host.stub.agree(other.authorizationUrl, google('cookie'))
  const [name, key = ''] = other.cookie.split('=')
  const sent = new URL(one.authorizationUrl).searchParams
  return {
    artefacts: {
      'the state of a flow': { value: answer['state'] ?? '', goodAs: ['state of a flow'] },
      'the state of another flow': { value: itsAnswer['state'] ?? '', goodAs: [] },
      'the cookie of a flow': { value: key, goodAs: ['cookie of a flow'] },
      'the nonce of a flow': { value: sent.get('nonce') ?? '', goodAs: [] },
      'the challenge of a flow': { value: sent.get('code_challenge') ?? '', goodAs: [] },
      'a code of a provider': { value: answer['code'] ?? '', goodAs: [] },
    },
    slots: {
      'state of a flow': (value) =>
        host.comeBack('client', 'google', { ...answer, state: value }, one.cookie),
      'cookie of a flow': (value) =>
        host.comeBack('client', 'google', itsAnswer, `${name}=${value}`),
    },
  }
}

/** Two apps that went to Google and back: one slot is for the code, the other for the verifier. */
export async function appFamily(host: OauthHost): Promise<Family> {
  const codeOf = async (who: string) => {
    const url = await host.departFromApp('client', 'google')
    const back = await host.comeBack('client', 'google', host.stub.agree(url, google(who)))
    return memberOf(back, 'code')
  }
  const waiting = new URL(await host.departFromApp('client', 'google')).searchParams
  const code = await codeOf('code')
  const itsCode = await codeOf('verifier')
  const tokens = host.stub.tokens
  const issued = (start: string) => tokens.find((token) => token.startsWith(start)) ?? ''
  return {
    artefacts: {
      'the state of an app': { value: waiting.get('state') ?? '', goodAs: [] },
      'the code of an app': { value: code, goodAs: ['code of an app'] },
      'the verifier of an app': { value: appVerifier, goodAs: ['verifier of an app'] },
      'an ID token': { value: issued('eyJ'), goodAs: [] },
      'an access token of a provider': { value: issued('access-'), goodAs: [] },
      'a refresh token of a provider': { value: issued('refresh-'), goodAs: [] },
    },
    slots: {
      'code of an app': (value) => host.exchange('client', value),
      'verifier of an app': (value) => host.exchange('client', itsCode, { codeVerifier: value }),
    },
  }
}

/** An operator who went to Google to link an account there: nobody signs in with the state of that. */
export async function linkFamily(host: OauthHost): Promise<Family> {
  const { bearer, password: currentPassword } = await signedInPerson(host, 'operator')
  const begun = await host.send('POST', '/v1/auth/operator/oauth/google/link', {
    bearer,
    body: { currentPassword, redirectUri: webTarget.operator },
  })
  const linking = new URL(textOf(begun.json(), 'authorizationUrl')).searchParams
  const state = linking.get('state') ?? ''
  return { artefacts: { 'the state of a link': { value: state, goodAs: [] } }, slots: {} }
}
