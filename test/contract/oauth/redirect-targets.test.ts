import { describe, expect, it } from 'vitest'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { surfaces } from '../../support/hosts/open-host.js'
import { signedInPerson } from '../../support/people/people.js'
import {
  appTarget,
  locationOf,
  memberOf,
  type OauthHost,
  oauthHost,
  webTarget,
} from './oauth-host.js'
import { redirectCorpus } from './redirect-corpus.js'

const ada = { subject: '1815', email: 'ada@example.org', verified: true }

const corpus = [
  ...redirectCorpus('https://app.example.com/signed-in'),
  ...Object.values(webTarget).flatMap((uri) => [`${uri}&more=1`]),
  ...Object.values(appTarget).flatMap((uri) => [
    ...[`${uri}/`, `${uri}?`, `${uri}#x`, uri.toUpperCase(), `${uri}\n`, `x${uri}`],
    ...[uri.replace(':/', '://'), uri.replace(':/', ':///'), uri.replace(':/', ':')],
  ]),
]

type Ask = (uri: string) => Promise<Reply>

/** What comes of each, but for refusals. */
async function notRefused(uris: readonly string[], ask: Ask): Promise<readonly unknown[]> {
  const outcomes: unknown[] = []
  for (const uri of uris) {
    const reply = await ask(uri)
    const isRefused = reply.status === 400 && reply.code === 'redirect_not_allowed'
    const leads = reply.headers.has('location') || reply.setCookies.length > 0
    if (!isRefused || leads) outcomes.push([uri, reply.status, reply.code])
  }
  return outcomes
}

/** A way to say where to go afterwards, and the one listed address it may be. */
interface Door {
  readonly name: string
  readonly listed: string
  open(host: OauthHost): Promise<Ask>
}

const doors: readonly Door[] = [
  ...surfaces.map(
    (surface): Door => ({
      name: `in a browser on ${surface}`,
      listed: webTarget[surface],
      open: async (host) => (redirectUri) => host.startWeb(surface, 'google', { redirectUri }),
    }),
  ),
  ...surfaces.map(
    (surface): Door => ({
      name: `in an app on ${surface}`,
      listed: appTarget[surface],
      open: async (host) => (redirectUri) => host.startApp(surface, 'google', { redirectUri }),
    }),
  ),
  {
    name: 'to link an account',
    listed: webTarget.operator,
    async open(host) {
      const { bearer, password } = await signedInPerson(host, 'operator')
      const path = '/v1/auth/operator/oauth/google/link'
      return (redirectUri) =>
        host.send('POST', path, { bearer, body: { redirectUri, currentPassword: password } })
    },
  },
]

describe('where people are led', () => {
  it('is tried with at least sixty addresses that are not on the list, each once', () => {
    expect(new Set(corpus).size).toBe(corpus.length)
    expect(corpus.length).toBeGreaterThanOrEqual(60)
    const listed: readonly string[] = [...Object.values(webTarget), ...Object.values(appTarget)]
    expect(corpus.filter((uri) => listed.includes(uri))).toEqual([])
  })

  it.each(doors)('is none of them, $name', async ({ listed, open }) => {
    const host = await oauthHost()
    const ask = await open(host)
    expect(await notRefused(corpus, ask)).toEqual([])
    // Nor a listed one of the other surface or flow.
    const all: readonly string[] = [...Object.values(webTarget), ...Object.values(appTarget)]
    const others = all.filter((uri) => uri !== listed)
    expect(await notRefused(others, ask)).toEqual([])
    expect((await ask(listed)).status).toBeLessThan(400)
  })

  it('is not changed by anything that comes to the callback', async () => {
    const host = await oauthHost()
    const members = ['redirectUri', 'redirect_uri', 'returnTo', 'next', 'appState', 'location']
    for (const evil of ['https://evil.example/', '//evil.example', 'javascript:alert(1)']) {
      const { authorizationUrl, cookie } = await host.depart('client', 'google')
      const added = Object.fromEntries(members.map((name) => [name, evil]))
      const brought = { ...added, ...host.stub.agree(authorizationUrl, ada) }
      expect(locationOf(await host.comeBack('client', 'google', brought, cookie))).toBe(
        webTarget.client,
      )
    }
  })

  it('is not changed by what an app says of its state, which it gets back', async () => {
    const host = await oauthHost()
    const wrong: unknown[] = []
    for (const appState of corpus) {
      const begun = await host.startApp('client', 'google', { appState })
      if (begun.status !== 200) continue
      const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), ada)
      const back = await host.comeBack('client', 'google', brought)
      const { protocol, host: name, pathname } = new URL(locationOf(back))
      const place = `${protocol}${name}${pathname}`
      const state = memberOf(back, 'state')
      if (place !== appTarget.client || state !== appState || /[\r\n]/.test(locationOf(back))) {
        wrong.push([appState, locationOf(back)])
      }
    }
    expect(wrong).toEqual([])
  })

  it('is not told by a refusal', async () => {
    const host = await oauthHost()
    const reply = await host.startWeb('client', 'google', { redirectUri: 'https://evil.example/' })
    expect([reply.status, reply.headers.get('location'), reply.setCookies]).toEqual([400, null, []])
    expect(reply.text).not.toContain('evil')
    const settings = { oauthRedirectTargets: [] }
    const closed = await oauthHost({ settings })
    expect((await closed.startWeb('client', 'google')).code).toBe('redirect_not_allowed')
  })
})
