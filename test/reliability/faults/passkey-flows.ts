import assert from 'node:assert/strict'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { codeOf } from '../../support/people/authenticator.js'
import { softwareAuthenticator } from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import type { Person } from '../../support/people/people.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  proving,
  readStale,
  type Struck,
  tookEffect,
} from './flow.js'
import { leftCodes, ofBefore } from './mfa-flows.js'
import type { World } from './world.js'

const unavailable = guardedUnavailable
const required = {
  ...withoutLimits,
  settings: {
    ...withoutLimits.settings,
    mfaPolicyOperator: 'required',
    mfaPolicyClient: 'required',
  },
} as const
const passwordless = {
  ...withoutLimits,
  settings: { ...withoutLimits.settings, webauthnMode: 'passwordless' },
} as const

/**
 * The challenge was taken, and its taker told that it was not there; or it was read of the person that
 * their factors are other ones than now. The ceremony starts over.
 */
const startsOver =
  (answer: string) =>
  (struck: Struck): readonly string[] =>
    tookEffect(struck, 'challenges.take') || readStale(struck, 'users.get') ? [answer] : []

/** Of a session whose proof was not there yet, or of a person with other factors than now. */
const unproved: Flow['ends'] = (struck) =>
  readStale(struck, 'step_up_proofs.get') || readStale(struck, 'users.get')
    ? ['403 step_up_required']
    : []

/** What the replies hand out is kept by the world. */
function passkeysIn(world: World) {
  const prefix = `/v1/auth/${world.surface}`
  return passkeysOn(
    { send: (method, path, options) => world.send(method, path.slice(prefix.length), options) },
    world.surface,
  )
}

const authenticatorIn = ({ surface }: World) => softwareAuthenticator({ origin: origins[surface] })

async function holderIn(world: World) {
  const who = await passkeyHolder(world.host, world.surface)
  world.adopt(who.id)
  return who
}

const loginOf = async (world: World, { email, password }: Person): Promise<Reply> =>
  world.send('POST', '/login', { body: { email, password } })

const statusOf = async (world: World, who: Person) => (await loginOf(world, who)).json()['status']

/** The second half of a ceremony, or the first one where that was refused. */
async function afterOptions(start: Reply, next: (begun: Begun) => Promise<Reply>): Promise<Reply> {
  return start.status === 200 ? next(JSON.parse(start.text)) : start
}

interface Begun {
  readonly challengeId: string
  readonly options: Parameters<ReturnType<typeof softwareAuthenticator>['create']>[0] &
    Parameters<ReturnType<typeof softwareAuthenticator>['get']>[0]
}

async function registerIn(
  world: World,
  who:
    | { readonly bearer: string; readonly currentPassword?: string }
    | { readonly mfaToken: string },
): Promise<Reply> {
  const on = passkeysIn(world)
  return afterOptions(await on.startRegistration(who), ({ challengeId, options }) => {
    const { currentPassword: _, ...same } = { currentPassword: '', ...who }
    return on.finishRegistration(same, challengeId, authenticatorIn(world).create(options))
  })
}

const registers: Flow = {
  name: '/webauthn/registration',
  options: withoutLimits,
  expects: '201',
  unavailable,
  mayAnswer: startsOver('400 webauthn_failed'),
  // It was registered: from here on a proof of it is asked for, and not the password.
  ends: () => ['403 step_up_required'],
  async prepare(world) {
    const who = await world.person()
    await world.stored.backupCodes.insert(leftCodes(who.id))
    const { bearer } = await world.signIn(who)
    const given = { bearer, currentPassword: who.password }
    return {
      send: async () => outcomeOf(await registerIn(world, given)),
      reached: async () => assert.equal(await statusOf(world, who), 'mfaRequired'),
    }
  },
}

const registersAfterEnrolment: Flow = {
  ...registers,
  name: '/webauthn/registration after an enrolment that was cut off',
  async prepare(world) {
    const { id, bearer, credentialId, authenticator } = await holderIn(world)
    const { host, surface, stored } = world
    const notice = { enrollmentId: 'cut off', expiresAt: host.clock.now() + 60_000 }
    await stored.passkeys.update(credentialId, { userId: id }, notice)
    await stored.users.update(id, { enabled: true }, { settledEnrollmentId: 'cut off' })
    await passkeysOn(host, surface).stepUp(bearer, authenticator)
    return {
      send: async () => outcomeOf(await registerIn(world, { bearer })),
      async reached() {
        assert.equal((await stored.passkeys.get(credentialId))?.enrollmentId, 'cut off stored')
      },
    }
  },
}

const registersOnTheWayIn: Flow = {
  name: '/webauthn/registration on the way in',
  options: required,
  expects: '201',
  unavailable,
  mayAnswer: startsOver('400 webauthn_failed'),
  // The passkey is registered, and the login begins anew with it.
  ends: () => ['401 mfa_ticket_invalid'],
  async prepare(world) {
    const who = await world.person()
    const mfaToken = textOf((await loginOf(world, who)).json(), 'mfaToken')
    return {
      send: async () => outcomeOf(await registerIn(world, { mfaToken })),
      reached: async () => assert.equal(await statusOf(world, who), 'mfaRequired'),
    }
  },
}

const signsIn: Flow = {
  name: '/webauthn/login after the password',
  options: withoutLimits,
  expects: '200',
  unavailable,
  mayAnswer: (struck) => [
    ...startsOver('401 invalid_credentials')(struck),
    // The ticket likewise.
    ...(tookEffect(struck, 'challenges.take') ? ['401 mfa_ticket_invalid'] : []),
    ...ofBefore(struck),
  ],
  async prepare(world) {
    const who = await holderIn(world)
    const on = passkeysIn(world)
    const { email, password } = who
    return {
      async send() {
        const first = await world.send('POST', '/mobile/login', { body: { email, password } })
        if (first.status !== 200) return outcomeOf(first)
        const mfaToken = textOf(first.json(), 'mfaToken')
        return outcomeOf(
          await afterOptions(await on.startLogin(mfaToken), ({ challengeId, options }) =>
            on.finishLogin(challengeId, who.authenticator.get(options), mfaToken),
          ),
        )
      },
      reached: async () => assert.notEqual(world.held.length, world.heldAtStart),
    }
  },
}

const signsInWithoutPassword: Flow = {
  name: '/webauthn/login without a password',
  options: passwordless,
  expects: '200',
  unavailable,
  mayAnswer: startsOver('401 invalid_credentials'),
  async prepare(world) {
    const who = await holderIn(world)
    const on = passkeysIn(world)
    return {
      async send() {
        return outcomeOf(
          await afterOptions(await on.startLogin(), ({ challengeId, options }) =>
            on.finishLogin(challengeId, who.authenticator.get(options)),
          ),
        )
      },
      reached: async () => assert.notEqual(world.held.length, world.heldAtStart),
    }
  },
}

const stepsUp: Flow = {
  name: '/step-up with a passkey',
  options: withoutLimits,
  expects: '200',
  unavailable,
  mayAnswer: startsOver('401 invalid_mfa_code'),
  async prepare(world) {
    const { authenticator, bearer } = await holderIn(world)
    const on = passkeysIn(world)
    return {
      async send() {
        const start = await world.send('POST', '/webauthn/step-up/options', { bearer })
        return outcomeOf(
          await afterOptions(start, ({ challengeId, options }) =>
            on.finishStepUp(bearer, challengeId, authenticator.get(options)),
          ),
        )
      },
      async reached() {
        const status = await world.send('GET', '/mfa', { bearer })
        assert.match(status.text, /"provedAt":"/)
      },
    }
  },
}

/** Somebody whose login just now has registered a passkey, where the policy asks for a factor. */
async function provedIn(world: World) {
  const who = await world.person()
  const mfaToken = textOf((await loginOf(world, who)).json(), 'mfaToken')
  const authenticator = authenticatorIn(world)
  const done = await passkeysIn(world).register({ mfaToken }, authenticator)
  const bearer = textOf(done.json(), 'accessToken')
  return { ...who, bearer, authenticator, credentialId: textOf(done.json(), 'credentialId') }
}

const removes: Flow = {
  name: '/webauthn/credentials/{id} taken away, one of two that the policy asks for',
  options: required,
  expects: '204',
  unavailable,
  // The passkey is gone, and with the change the proof that let it go.
  ends: () => ['404 factor_not_found', '403 step_up_required'],
  async prepare(world) {
    const { bearer, credentialId } = await provedIn(world)
    const on = passkeysIn(world)
    const other = authenticatorIn(world)
    await on.register({ bearer }, other)
    const prove = () => on.stepUp(bearer, other)
    await prove()
    return {
      send: proving(() => on.remove(bearer, credentialId), prove),
      reached: async () => assert.equal(await world.stored.passkeys.get(credentialId), null),
    }
  },
}

const keepsTheLast: Flow = {
  name: '/webauthn/credentials/{id} that is the last',
  options: required,
  expects: '409 last_factor_required',
  unavailable,
  ends: unproved,
  async prepare(world) {
    const { bearer, credentialId } = await provedIn(world)
    return {
      send: async () => outcomeOf(await passkeysIn(world).remove(bearer, credentialId)),
      reached: async () => assert.notEqual(await world.stored.passkeys.get(credentialId), null),
    }
  },
}

/** Somebody whose passkey stands for both factors, without a password, who has just shown it. */
async function passkeyAloneIn(world: World) {
  const who = await holderIn(world)
  await world.stored.users.update(who.id, { credentialEpoch: 0 }, { passwordHash: null })
  await passkeysIn(world).stepUp(who.bearer, who.authenticator)
  return who
}

const keepsTheLastWayIn: Flow = {
  name: '/webauthn/credentials/{id} that is the last way in',
  options: passwordless,
  expects: '409 last_login_method',
  unavailable,
  // A store never answers with what was before: the account would have its password again.
  leavesOut: (struck) => readStale(struck, 'users.get'),
  ends: unproved,
  async prepare(world) {
    const { bearer, credentialId, authenticator } = await passkeyAloneIn(world)
    return {
      send: async () => outcomeOf(await passkeysIn(world).remove(bearer, credentialId)),
      async reached() {
        const login = await passkeysIn(world).login(authenticator)
        assert.equal(login.json()['status'], 'authenticated')
      },
    }
  },
}

const removesOneWayIn: Flow = {
  name: '/webauthn/credentials/{id} taken away, one of two ways in',
  options: passwordless,
  expects: '204',
  unavailable,
  ends: () => ['404 factor_not_found', '403 step_up_required'],
  async prepare(world) {
    const { bearer, credentialId, authenticator } = await passkeyAloneIn(world)
    const on = passkeysIn(world)
    const another = authenticatorIn(world)
    assert.equal((await on.register({ bearer }, another)).status, 201)
    await on.stepUp(bearer, authenticator)
    return {
      send: proving(
        () => on.remove(bearer, credentialId),
        () => on.stepUp(bearer, another),
      ),
      async reached() {
        assert.equal(await world.stored.passkeys.get(credentialId), null)
        const login = await on.login(another)
        assert.equal(login.json()['status'], 'authenticated')
      },
    }
  },
}

/** The app beside a passkey, in a session that has just shown a factor. */
async function withApp(world: World) {
  const who = await provedIn(world)
  const { bearer, authenticator } = who
  const begun = await world.send('POST', '/mfa/totp', { bearer })
  const code = codeOf(world.host, textOf(begun.json(), 'secret'))
  await world.send('POST', '/mfa/totp/confirm', { bearer, body: { code } })
  await passkeysIn(world).stepUp(bearer, authenticator)
  return who
}

const removesTheApp: Flow = {
  name: '/mfa/totp taken away, where the policy asks for a factor and a passkey is one',
  options: required,
  expects: '204',
  unavailable,
  ends: () => ['404 factor_not_found', '403 step_up_required'],
  async prepare(world) {
    const { id, bearer, authenticator } = await withApp(world)
    const prove = () => passkeysIn(world).stepUp(bearer, authenticator)
    return {
      send: proving(() => world.send('DELETE', '/mfa/totp', { bearer }), prove),
      reached: async () => assert.equal(await world.stored.totpFactors.get(id), null),
    }
  },
}

const keepsTheApp: Flow = {
  name: '/mfa/totp that is the last factor',
  options: required,
  expects: '409 last_factor_required',
  unavailable,
  ends: unproved,
  async prepare(world) {
    const { id, bearer, credentialId } = await withApp(world)
    // As if by another request, so that the proof stays.
    await world.stored.passkeys.take(credentialId)
    return {
      send: async () => outcomeOf(await world.send('DELETE', '/mfa/totp', { bearer })),
      reached: async () => assert.notEqual(await world.stored.totpFactors.get(id), null),
    }
  },
}

export const passkeyFlows: readonly Flow[] = [
  registers,
  registersAfterEnrolment,
  registersOnTheWayIn,
  signsIn,
  signsInWithoutPassword,
  stepsUp,
  removes,
  keepsTheLast,
  keepsTheLastWayIn,
  removesOneWayIn,
  removesTheApp,
  keepsTheApp,
]
