import { createHash } from 'node:crypto'
import { type Host, outcomeOf } from './host-client.js'
import type { SingleUse } from './single-uses.js'

const client = '/v1/auth/client'
const codeVerifier = 'an-app-keeps-this-verifier-to-itself-0123456789'
const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')

let accounts = process.pid * 100_000

/** An account at the provider that nobody has seen yet. */
function newAccount(): string {
  accounts += 1
  return String(accounts)
}

/** The browser comes back from the provider, as somebody. */
function callback(authorizationUrl: string, account: string): string {
  const state = new URL(authorizationUrl).searchParams.get('state') ?? ''
  return `${client}/oauth/github/callback?${new URLSearchParams({ state, code: account })}`
}

async function codeOf(host: Host): Promise<string> {
  const body = { redirectUri: 'org.example:/in', codeChallenge, codeChallengeMethod: 'S256' }
  const begun = await host.send('POST', `${client}/mobile/oauth/github/start`, { body })
  const { authorizationUrl } = begun.json()
  const back = await host.send('GET', callback(String(authorizationUrl), newAccount()))
  const code = new URL(back.headers.get('location') ?? '').searchParams.get('code')
  if (code === null) throw new Error(`${back.status} ${back.headers.get('location')}`)
  return code
}

async function loginsAt(hosts: readonly Host[]): Promise<number> {
  const states = await Promise.all(hosts.map((host) => host.control('state', null)))
  return states.reduce((sum, { events }) => sum + (events['login.succeeded'] ?? 0), 0)
}

export const oauthUses: readonly SingleUse[] = [
  {
    kind: 'the way back from a provider',
    won: /^302 in$/,
    lost: /^400 invalid_oauth_state$/,
    async prepare(host) {
      const query = new URLSearchParams({ redirectUri: 'https://app.example.com/in' })
      const begun = await host.send('GET', `${client}/oauth/github/start?${query}`)
      const path = callback(begun.headers.get('location') ?? '', newAccount())
      const cookie = begun.setCookies[0]?.split(';')[0] ?? ''
      return {
        async attempt(at) {
          const reply = await at.send('GET', path, { cookie })
          const { search } = new URL(reply.headers.get('location') ?? 'https://none.example')
          return [302, 303].includes(reply.status)
            ? `302 ${search === '' ? 'in' : search}`
            : outcomeOf(reply)
        },
      }
    },
  },
  {
    kind: 'the code of an app',
    // A code that comes again ends what it gave: the winner may be told too late, and is no loser.
    won: /^200$/,
    lost: /^400 invalid_token$/,
    async prepare(host) {
      const body = { code: await codeOf(host), codeVerifier }
      let before = 0
      return {
        attempt: async (at) =>
          outcomeOf(await at.send('POST', `${client}/mobile/oauth/exchange`, { body })),
        async happened(hosts) {
          const all = await loginsAt(hosts)
          const since = all - before
          before = all
          return since
        },
      }
    },
  },
]
