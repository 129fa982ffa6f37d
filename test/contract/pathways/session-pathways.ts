import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { finish, passwordLogin } from '../../support/people/authenticator.js'
import type { Pathway, Walk } from './pathway.js'
import { sender } from './sender.js'

/** What a session was opened with is not asked for again; who may not have one has none any more. */
const sessionCells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'tokens',
  'a policy that wants a second factor': 'tokens',
  'a disabled account': '401 session_revoked',
  'a service principal': '401 refresh_token_invalid',
  'an unverified address': 'tokens',
  'guesses at the password used up': 'tokens',
  'requests used up': '429 rate_limited',
  'the other surface': '401 audience_mismatch',
}

/** `name=value` of the refresh cookie. */
async function cookie({ host, surface, who, enrolled }: Walk): Promise<string> {
  const first = await passwordLogin(host, surface, who)
  if (enrolled === null) return refreshCookieOf(first, surface)
  const mfaToken = textOf(first.json(), 'mfaToken')
  const second = await finish(host, surface, mfaToken, await enrolled.nextCode())
  return refreshCookieOf(second, surface)
}

const tokenIn = (pair: string): string => pair.slice(pair.indexOf('=') + 1)

export const sessionPathways: readonly Pathway[] = [
  {
    of: 'refresh',
    name: 'a refresh token in an app',
    prepare: async (walk) => {
      const refreshToken = tokenIn(await cookie(walk))
      return { step: sender(walk, '/refresh', { refreshToken }) }
    },
    cells: sessionCells,
  },
  {
    of: 'refreshCookie',
    name: 'a refresh cookie',
    prepare: async (walk) => ({
      step: sender(walk, '/refresh-cookie', {}, { cookie: await cookie(walk) }),
    }),
    cells: {
      ...sessionCells,
      'the other surface': '401',
    },
  },
  {
    of: 'getSession',
    name: 'a page that opens',
    async prepare(walk) {
      const { host, surface } = walk
      const sent = { cookie: await cookie(walk) }
      return {
        step: ({ at = surface, from }) =>
          host.send('GET', `/v1/auth/${at}/session`, {
            headers: { ...sent, ...(from === undefined ? {} : { 'x-forwarded-for': from }) },
          }),
      }
    },
    cells: { ...sessionCells, 'the other surface': '401' },
  },
]
