import { expect, it } from 'vitest'
import { providerIds } from '../../../src/identity-providers/providers.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { memberOf, oauthHost, webTarget } from './oauth-host.js'

const accountAt = (provider: string): Account => ({
  subject: '1815',
  email: `${provider}@example.org`,
  verified: true,
})

/** What differs from a target on the list by a little. */
function nearly(target: string): readonly string[] {
  return [
    `${target}/more`,
    `${target}?and=more`,
    `${target}#more`,
    target.replace('signed-in', 'Signed-In'),
    target.replace('https://', 'https://x.'),
    target.replace('https:', 'http:'),
    target.slice(0, -1),
  ]
}

it('OAuth 2.1: a code with PKCE, a state good once in its own browser, exact targets, no other grant', async () => {
  const host = await oauthHost()
  for (const provider of providerIds) {
    const { authorizationUrl, cookie } = await host.depart('client', provider)
    const asked = new URL(authorizationUrl).searchParams
    expect(asked.get('response_type')).toBe('code')
    expect(asked.get('code_challenge_method')).toBe('S256')
    expect(asked.get('code_challenge')).toMatch(/^[\w-]{43}$/)
    expect(asked.get('state')).toMatch(/^[\w-]{43}$/)
    if (provider !== 'github') expect(asked.get('nonce')).toMatch(/^[\w-]{43}$/)

    const brought = host.stub.agree(authorizationUrl, accountAt(provider))
    const refusedIn = async (own?: string, edit: Readonly<Record<string, string>> = {}) => {
      const reply = await host.comeBack('client', provider, { ...brought, ...edit }, own)
      expectProblem(reply, 400, 'invalid_oauth_state')
    }
    // Another browser, none, and a state of nobody's.
    await refusedIn((await host.depart('client', provider)).cookie)
    await refusedIn()
    await refusedIn(cookie, { state: 'x'.repeat(43) })
    const done = await host.comeBack('client', provider, brought, cookie)
    expect([done.status, memberOf(done, 'error')]).toEqual([302, ''])
    await refusedIn(cookie)

    for (const redirectUri of nearly(webTarget.client)) {
      const web = await host.startWeb('client', provider, { redirectUri })
      expectProblem(web, 400, 'redirect_not_allowed')
      const app = await host.startApp('client', provider, { redirectUri })
      expectProblem(app, 400, 'redirect_not_allowed')
    }
    for (const codeChallengeMethod of ['plain', 's256', '', undefined]) {
      const app = await host.startApp('client', provider, { codeChallengeMethod })
      expectProblem(app, 400, 'invalid_request')
    }
    // Another's code, whose verifier is not this flow's; an issuer that was not asked; the implicit grant.
    const theirs = await host.depart('client', provider)
    const { code = '' } = host.stub.agree(theirs.authorizationUrl, accountAt(provider))
    const edits = [
      { code },
      { iss: 'https://evil.example' },
      { id_token: 'eyJ.eyJ.x' },
      { access_token: 'x', code: '' },
    ]
    for (const edit of edits) {
      const flow = await host.depart('client', provider)
      const answer = host.stub.agree(flow.authorizationUrl, accountAt(provider))
      const reply = await host.comeBack('client', provider, { ...answer, ...edit }, flow.cookie)
      expect([memberOf(reply, 'error'), reply.setCookies]).toEqual(['oauth_failed', []])
    }
    if (provider !== 'github') {
      host.stub.forge({ claims: { nonce: 'of another flow' } })
      const reply = await host.signIn('client', provider, accountAt(provider))
      expect(memberOf(reply, 'error')).toBe('oauth_failed')
      host.stub.forge(null)
    }
  }
  const body = { grantType: 'password', username: 'google@example.org', password: 'x' }
  const grant = await host.send('POST', '/v1/auth/token', { body })
  expect(grant.status).toBe(400)
})
