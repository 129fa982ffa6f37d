import assert from 'node:assert/strict'
import { AuthError } from '../../../src/errors/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { mailedToken } from '../../support/hosts/open-host.js'
import {
  type Enrolled,
  enrolled,
  finish,
  requireStepUp,
  textsOf,
  ticketOf,
} from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { forgot, linkFor, login, reset } from '../../support/people/recovery-steps.js'
import {
  comesTo,
  deviceLogin,
  type Trusting,
  trustingPerson,
} from '../../support/people/trusted-device.js'
import { changePassword } from './session-threats.js'
import { at, type Theft, type Thefts, type Threat, told } from './threat.js'

const minute = 60_000
const day = 24 * 60 * minute
const thiefsPassword = 'the thief chose this passphrase'

/** Asks for a link at an address, reads it there and signs in with the password it sets. */
async function takeOver(host: ContractHost, email: string): Promise<string> {
  host.mailer.clear()
  await forgot(host, 'client', email)
  await host.auth.close()
  if (host.mailer.count(email) === 0) return 'no link'
  const { token } = host.mailer.last('resetPassword', email).data
  await reset(host, 'client', token, thiefsPassword)
  return String(comesTo(await login(host, 'client', email, thiefsPassword)))
}

export const mailbox: Threat = {
  ends: {
    'a completed change of address': async (host) => {
      const who = await signedInPerson(host, 'client')
      const twin = await person(host, 'client')
      return {
        twin: () => takeOver(host, twin.email),
        use: () => takeOver(host, who.email),
        async end() {
          const { bearer, password: currentPassword } = who
          const body = { newEmail: 'moved@example.net', currentPassword }
          await host.send('POST', at('/me/email'), { bearer, body })
          const token = await mailedToken(host, 'changeEmail', 'moved@example.net')
          const done = await host.send('POST', at('/email/verify'), { bearer, body: { token } })
          assert.equal(done.status, 200, done.text)
        },
        works: 'authenticated',
        after: 'no link',
      }
    },
  },
  meanwhile: {
    'a reset never passes a second factor': async (host) => {
      const [twin, who] = [await person(host, 'client'), await enrolled(host, 'client')]
      return {
        twin: () => takeOver(host, twin.email),
        use: () => takeOver(host, who.email),
        works: 'authenticated',
        after: 'mfaRequired',
      }
    },
  },
}

async function finishWith(
  host: ContractHost,
  who: Enrolled,
  code: string,
  method: 'totp' | 'backupCode',
) {
  return told(await finish(host, 'client', await ticketOf(host, 'client', who), code, method))
}

const codeRefused = '401 invalid_mfa_code'

export const totpCode: Threat = {
  ends: {
    'one use': async (host) => {
      const who = await enrolled(host, 'client')
      const code = await who.nextCode()
      return { use: () => finishWith(host, who, code, 'totp'), works: '200', after: codeRefused }
    },
    'its time step and the tolerance of `totpSkewSteps`': async (host) => {
      const who = await enrolled(host, 'client')
      const twin = await who.nextCode()
      let code = ''
      return {
        twin: async () => {
          const seen = await finishWith(host, who, twin, 'totp')
          code = await who.nextCode()
          return seen
        },
        use: () => finishWith(host, who, code, 'totp'),
        end: () => host.clock.advance(2 * 30_000),
        works: '200',
        after: codeRefused,
      }
    },
  },
  meanwhile: {},
}

export const backupCode: Threat = {
  ends: {
    'one use': async (host) => {
      const who = await enrolled(host, 'client')
      const [code = ''] = who.backupCodes
      const use = () => finishWith(host, who, code, 'backupCode')
      return { use, works: '200', after: codeRefused }
    },
    'a new set': async (host) => {
      const who = await enrolled(host, 'client')
      const [spare = '', code = '', proof = ''] = who.backupCodes
      return {
        twin: () => finishWith(host, who, spare, 'backupCode'),
        use: () => finishWith(host, who, code, 'backupCode'),
        async end() {
          await stepUp(host, who, proof)
          const reply = await host.send('POST', at('/mfa/backup-codes'), { bearer: who.bearer })
          assert.ok(textsOf(reply.json(), 'backupCodes').length > 0, reply.text)
        },
        works: '200',
        after: codeRefused,
      }
    },
  },
  meanwhile: {},
}

async function stepUp(host: ContractHost, { bearer }: { bearer: string }, code: string) {
  const body = { method: 'backupCode', code }
  const reply = await host.send('POST', at('/step-up'), { bearer, body })
  assert.equal(reply.status, 200, reply.text)
}

/** Another factor, in a session that showed the first one. */
async function addPasskey(host: ContractHost, bearer: string, currentPassword: string) {
  const authenticator = softwareAuthenticator({ origin: origins.client })
  const reply = await passkeysOn(host, 'client').register(
    { bearer, currentPassword },
    authenticator,
  )
  assert.equal(reply.status, 201, reply.text)
}

function deviceTheft(
  end: (host: ContractHost, who: Trusting) => Promise<unknown>,
  password?: string,
) {
  return async (host: ContractHost): Promise<Theft> => {
    const who = await trustingPerson(host, 'client')
    let given = who.password
    return {
      use: async () => {
        const thief = { ...who, password: given }
        return String(comesTo(await deviceLogin(host, 'client', thief, who.deviceToken, 'login')))
      },
      async end() {
        await end(host, who)
        // The thief knows the new password as well.
        given = password ?? given
      },
      works: 'authenticated',
      after: 'mfaRequired',
    }
  }
}

const deviceEnds: Thefts = {
  'a change of the password': deviceTheft(
    (host, who) => changePassword(host, { ...who, bearer: who.trustedBearer }),
    otherPassword,
  ),
  'a reset of the password': deviceTheft(
    async (host, { email }) =>
      reset(host, 'client', await linkFor(host, 'client', email), otherPassword),
    otherPassword,
  ),
  'a change of factors': deviceTheft((host, who) =>
    addPasskey(host, who.trustedBearer, who.password),
  ),
  'its revocation': deviceTheft(async (host, { trustedBearer: bearer }) => {
    const list = await host.send('GET', at('/devices'), { bearer })
    const { items } = JSON.parse(list.text)
    for (const { deviceId } of items) {
      await host.send('DELETE', at(`/devices/${deviceId}`), { bearer })
    }
  }),
  'signing out everywhere': deviceTheft((host, { trustedBearer: bearer }) =>
    host.send('POST', at('/logout'), { bearer, body: { everywhere: true } }),
  ),
  'its expiry': deviceTheft((host) => host.clock.advance(30 * day)),
  terminateAllSessions: deviceTheft((host) => host.auth.terminateAllSessions()),
}

export const trustedDevice: Threat = {
  ends: deviceEnds,
  meanwhile: {
    'it replaces the second factor, never the password': async (host) => {
      const who = await trustingPerson(host, 'client')
      let given = who.password
      return {
        use: async () => {
          const thief = { ...who, password: given }
          return String(comesTo(await deviceLogin(host, 'client', thief, who.deviceToken, 'login')))
        },
        async end() {
          given = 'not the password of anybody'
        },
        works: 'authenticated',
        after: '401 invalid_credentials',
      }
    },
  },
}

/** A session that showed a second factor; `use` is a route of the host's that wants that. */
function proofTheft(
  end: (host: ContractHost, who: { bearer: string; password: string }) => Promise<unknown>,
  after: string,
) {
  return async (host: ContractHost): Promise<Theft> => {
    const who = await enrolled(host, 'client')
    const reply = await finish(
      host,
      'client',
      await ticketOf(host, 'client', who),
      await who.nextCode(),
    )
    const bearer = textOf(reply.json(), 'accessToken')
    return {
      async use() {
        try {
          await requireStepUp(host, 'client', bearer, 5 * minute)
          return 'allowed'
        } catch (error) {
          return error instanceof AuthError ? error.code : 'another error'
        }
      },
      end: () => end(host, { ...who, bearer }),
      works: 'allowed',
      after,
    }
  }
}

export const stepUpProof: Threat = {
  ends: {
    'its maximum age': proofTheft((host) => host.clock.advance(5 * minute), 'step_up_required'),
    'the end of its session': proofTheft(
      (host, { bearer }) => host.send('POST', at('/logout'), { bearer, body: {} }),
      'session_revoked',
    ),
    'a change of factors': proofTheft(
      (host, { bearer, password }) => addPasskey(host, bearer, password),
      'step_up_required',
    ),
  },
  meanwhile: {},
}
