import { decodeJwt } from 'jose'
import { type Reply, refreshCookieOf, textOf } from '../support/hosts/http-client.js'
import { finish, passwordLogin } from '../support/people/authenticator.js'
import { otherPassword } from '../support/people/people.js'
import { type Flow, post, request, sessionOf, signedInFlow, type Walk } from './flow.js'

/** The reply that opened a new session. */
async function opened(
  { host, surface, who, enrolled }: Walk,
  door: 'login' | 'mobile/login',
): Promise<Reply> {
  const first = await passwordLogin(host, surface, who, door)
  if (enrolled === null) return first
  const mfaToken = textOf(first.json(), 'mfaToken')
  return finish(host, surface, mfaToken, await enrolled.nextCode())
}

/** `name=value` of the refresh cookie of a new session. */
const cookieOf = async (walk: Walk) => refreshCookieOf(await opened(walk, 'login'), walk.surface)

export const refreshToken: Flow = {
  of: 'refresh',
  name: 'a refresh token in an app',
  prepare: async (walk) => {
    const reply = await opened(walk, 'mobile/login')
    return { step: post(walk, '/refresh', { refreshToken: textOf(reply.json(), 'refreshToken') }) }
  },
}

export const refreshCookie: Flow = {
  of: 'refreshCookie',
  name: 'a refresh cookie',
  prepare: async (walk) => ({
    step: post(walk, '/refresh-cookie', {}, { cookie: await cookieOf(walk) }),
  }),
}

export const pageThatOpens: Flow = {
  of: 'getSession',
  name: 'a page that opens',
  prepare: async (walk) => ({
    step: request(walk, 'GET', '/session', { cookie: await cookieOf(walk) }),
  }),
}

/** Sessions, and what people do in theirs. */
export const sessionFlows: readonly Flow[] = [
  refreshToken,
  refreshCookie,
  pageThatOpens,
  signedInFlow('logout', 'of this session', () => ['POST', '/logout']),
  signedInFlow('getMe', 'the account', () => ['GET', '/me']),
  signedInFlow('updateMe', 'another name', () => ['PATCH', '/me', { name: 'Grace' }]),
  signedInFlow('changePassword', 'with the current password', (_walk, { password }) => [
    'POST',
    '/me/password',
    { currentPassword: password, newPassword: otherPassword },
  ]),
  {
    ...signedInFlow('deleteMe', 'with the current password', (_walk, { password }) => [
      'DELETE',
      '/me',
      { currentPassword: password },
    ]),
    options: { settings: { accountDeletionMode: 'both' } },
  },
  signedInFlow('listSessions', 'the sessions', () => ['GET', '/sessions']),
  {
    of: 'terminateSession',
    name: 'another session of the same person',
    async prepare(walk) {
      const { sid } = decodeJwt((await sessionOf(walk)).bearer)
      const { bearer } = await sessionOf(walk)
      return { step: request(walk, 'DELETE', `/sessions/${sid}`, { bearer }) }
    },
  },
]
