import type { OauthHost } from '../../../contract/oauth/oauth-host.js'
import type { Reply } from '../../../support/hosts/http-client.js'
import { otherPassword, person, signedInPerson } from '../../../support/people/people.js'
import { hashOf, plant } from '../../../support/people/planted-hash.js'
import { home, loginHere } from '../../../support/people/recognition-steps.js'
import { comesTo, deviceLogin, trustingPerson } from '../../../support/people/trusted-device.js'
import { post, subjectOf } from '../../intents/subject.js'
import type { OvertakenWrite, OvertakenWrites } from '../overtaken-write.js'
import { plus } from './begun.js'

type Begin = OvertakenWrite['begin']

const login = (host: OauthHost, { email, password }: { email: string; password: string }) =>
  host.send('POST', '/v1/auth/client/login', { body: { email, password } })

const loggingIn: Begin = async (host) => {
  const who = await person(host, 'client')
  return () => login(host, who)
}

const signingOut: Begin = async (host) => {
  const { bearer } = await signedInPerson(host, 'client')
  return () => host.send('POST', '/v1/auth/client/logout', { bearer, body: {} })
}

const refreshing: Begin = async (host) => {
  const { cookie } = await signedInPerson(host, 'client')
  return () => host.send('POST', '/v1/auth/client/refresh-cookie', { cookie })
}

/** After a refresh that the device made itself. */
export const viewing: Begin = async (host) => {
  const { email, password } = await person(host, 'client')
  const cookieOf = (reply: Reply) => reply.setCookies.map((one) => one.split(';')[0]).join('; ')
  const body = { email, password }
  const login = cookieOf(await host.send('POST', '/v1/auth/client/login', { body }))
  const refreshed = await host.send('POST', '/v1/auth/client/refresh-cookie', { cookie: login })
  const recognition = login.split('; ').find((one) => one.includes('recognition')) ?? ''
  const cookie = `${cookieOf(refreshed)}; ${recognition}`
  return () => host.send('GET', '/v1/auth/client/session', { cookie })
}

const changingPassword: Begin = async (host) => {
  const subject = await subjectOf(host, 'nothing')
  const { password: currentPassword } = subject
  await post(subject, '/me/password', { currentPassword, newPassword: otherPassword })
  const newPassword = 'the newest of all passwords'
  return () => post(subject, '/me/password', { currentPassword: otherPassword, newPassword })
}

const changingFirst: Begin = async (host) => {
  const subject = await subjectOf(host, 'nothing')
  const { password: currentPassword } = subject
  return () => post(subject, '/me/password', { currentPassword, newPassword: otherPassword })
}

/** What opens, extends and ends sessions, and what is kept of logins and passwords. */
export const sessionWrites: OvertakenWrites = {
  'a password that is changed in a session, which stays': {
    collection: 'users',
    begin: changingFirst,
    // All sessions are being ended, this one too.
    changes: { sessionEpoch: { value: plus('sessionEpoch'), outcome: '401 session_revoked' } },
  },
  'a login that is let in at last': {
    collection: 'users',
    begin: loggingIn,
    changes: {
      sessionEpoch: { value: plus('sessionEpoch'), outcome: '401 invalid_credentials' },
      enabled: { value: false, outcome: '401 invalid_credentials' },
    },
  },
  'a login from a trusted device that is let in at last': {
    collection: 'users',
    begin: async (host) => {
      const who = await trustingPerson(host, 'client')
      const { deviceToken, door } = who
      return async () => String(comesTo(await deviceLogin(host, 'client', who, deviceToken, door)))
    },
    changes: {
      deviceEpoch: { value: plus('deviceEpoch'), outcome: '401 invalid_credentials' },
    },
  },
  'a refresh that rotates': {
    collection: 'refresh_tokens',
    begin: refreshing,
    changes: {
      userId: { value: 'another user', outcome: '401 refresh_token_invalid' },
      // Another tab was a moment earlier.
      generation: { value: plus('generation'), outcome: '200' },
    },
  },
  'the note that a token was shown': {
    collection: 'refresh_tokens',
    begin: viewing,
    changes: { shown: { value: 9, outcome: '200' } },
  },
  'a session that is ended': {
    collection: 'refresh_tokens',
    begin: signingOut,
    changes: { revokedAt: { value: 1, outcome: '204' } },
  },
  'the record of a session that is ended': {
    collection: 'sessions',
    begin: signingOut,
    changes: { active: { value: false, outcome: '204' } },
  },
  'the tokens that a changed password bars': {
    collection: 'refresh_tokens',
    begin: changingPassword,
    changes: {
      userId: { value: 'another user', outcome: '401 session_revoked' },
      generation: { value: plus('generation'), outcome: '204' },
      revokedAt: { value: 1, outcome: '401 session_revoked' },
    },
  },
  'the history of a password': {
    collection: 'password_histories',
    begin: changingPassword,
    changes: { revision: { value: plus('revision'), outcome: '204', left: 'goes on' } },
  },
  'a weak hash that a login replaces': {
    collection: 'users',
    nth: 2,
    begin: async (host) => {
      const [email, password] = ['weak@example.org', 'correct horse battery staple']
      await plant(host, 'client', email, await hashOf(password, { m: 32, t: 1 }))
      return () => login(host, { email, password })
    },
    changes: { passwordHash: { value: 'of a password set meanwhile', outcome: '200' } },
  },
  'the end of all sessions of a surface': {
    collection: 'users',
    begin: async (host) => {
      await signedInPerson(host, 'client')
      await host.clock.advance(1000)
      return async () => `${await host.auth.terminateAllSessions()} users`
    },
    changes: {
      sessionEpoch: { value: plus('sessionEpoch'), outcome: '1 users', left: 'goes on' },
      credentialEpoch: { value: plus('credentialEpoch'), outcome: '1 users', left: 'goes on' },
      deviceEpoch: { value: plus('deviceEpoch'), outcome: '1 users', left: 'goes on' },
    },
  },
  'a login remembered': {
    collection: 'known_logins',
    begin: async (host) => {
      const who = await person(host, 'client')
      const cookie = await loginHere(host, 'client', who, home)
      return async () => {
        await loginHere(host, 'client', who, home, cookie)
        return 'done'
      }
    },
    changes: {
      userId: { value: 'another user', outcome: 'done' },
      // One that came later is remembered already.
      loginAt: { value: plus('loginAt', 60_000), outcome: 'done' },
    },
  },
}
