import assert from 'node:assert/strict'
import argon2 from 'argon2'
import { textOf } from '../../support/hosts/http-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { otherPassword, type Person } from '../../support/people/people.js'
import { expectAlive, expectEnded, newestHeld } from './endings.js'
import { type Attempt, type Flow, outcomeOf, unavailable } from './flow.js'
import type { World } from './world.js'

const day = 24 * 60 * 60 * 1000

const login =
  (world: World, path: string, { email, password }: Person) =>
  async () =>
    outcomeOf(await world.send('POST', path, { body: { email, password } }))

/** Signed in at least once, so that the account has a past. */
async function regular(world: World): Promise<Person> {
  const who = await world.person()
  await world.signIn(who)
  return who
}

function signsIn(path: string): Flow {
  return {
    name: path,
    options: withoutLimits,
    expects: '200',
    unavailable,
    async prepare(world): Promise<Attempt> {
      const who = await regular(world)
      return {
        send: login(world, path, who),
        reached: () => expectAlive(world, newestHeld(world)),
      }
    },
  }
}

const knownAgain: Flow = {
  name: '/mobile/login of an app that is known',
  options: withoutLimits,
  expects: '200',
  unavailable,
  async prepare(world) {
    const { email, password } = await world.person()
    const signIn = (more: object) =>
      world.send('POST', '/mobile/login', { body: { email, password, ...more } })
    const recognitionId = textOf((await signIn({})).json(), 'recognitionId')
    // It is remembered beside the reply.
    await world.host.auth.close()
    return {
      send: async () => outcomeOf(await signIn({ recognitionId })),
      reached: () => expectAlive(world, newestHeld(world)),
    }
  },
}

const oneTooMany: Flow = {
  name: '/login of one more device of a kind than are kept',
  options: withoutLimits,
  expects: '200',
  unavailable,
  async prepare(world) {
    const who = await regular(world)
    await world.host.auth.close()
    const { knownLogins } = world.stored
    const [known] = await knownLogins.find({ userId: who.id }, { limit: 1 })
    assert.ok(known !== undefined, 'the login was not remembered')
    for (let n = 0; n < 8; n += 1) {
      await knownLogins.insert({ ...known, id: `${known.id}${n}`, recognitionHash: `${n}` })
    }
    return {
      send: login(world, '/login', who),
      reached: () => expectAlive(world, newestHeld(world)),
    }
  },
}

const withWeakHash: Flow = {
  name: '/login that upgrades a weak hash',
  options: {
    ...withoutLimits,
    hash: {
      params: { memoryCost: 128, timeCost: 1, parallelism: 1 },
      allowWeakHashesForTests: true,
    },
  },
  expects: '200',
  unavailable,
  async prepare(world) {
    const who = await regular(world)
    const options = { type: argon2.argon2id, memoryCost: 64, timeCost: 1, parallelism: 1 }
    const passwordHash = await argon2.hash(who.password, options)
    await world.stored.users.update(who.id, { enabled: true }, { passwordHash })
    return {
      send: login(world, '/login', who),
      reached: () => expectAlive(world, newestHeld(world)),
    }
  },
}

const overTheLimit: Flow = {
  name: '/login beyond the number of sessions',
  options: { ...withoutLimits, settings: { ...withoutLimits.settings, maxConcurrentSessions: 2 } },
  expects: '200',
  unavailable,
  async prepare(world) {
    const who = await world.person()
    const oldest = await world.oldSession(who)
    await world.oldSession(who)
    return {
      send: login(world, '/login', who),
      async reached() {
        const newest = newestHeld(world)
        await expectEnded(world, oldest, ['limit'])
        await expectAlive(world, newest)
      },
    }
  },
}

const expiredPassword: Flow = {
  name: '/login with a password that is too old',
  options: { ...withoutLimits, settings: { ...withoutLimits.settings, passwordMaxAge: '1d' } },
  expects: '200',
  unavailable,
  async prepare(world) {
    const who = await world.person()
    await world.host.clock.advance(2 * day)
    const body = { email: who.email, password: who.password }
    // A ticket that is replaced has a past.
    await world.send('POST', '/login', { body })
    let token = ''
    return {
      async send() {
        const reply = await world.send('POST', '/login', { body })
        if (reply.status === 200) token = textOf(reply.json(), 'passwordToken')
        return outcomeOf(reply)
      },
      async reached() {
        const change = { token, newPassword: otherPassword }
        const reset = await world.send('POST', '/password/reset', { body: change })
        assert.equal(reset.status, 204, reset.text)
        const again = await world.send('POST', '/password/reset', { body: change })
        assert.equal(again.code, 'invalid_token', 'a password token was spent twice')
      },
    }
  },
}

const wrongPassword: Flow = {
  name: '/login with a wrong password',
  options: withoutLimits,
  expects: '401 invalid_credentials',
  unavailable,
  async prepare(world) {
    const who = await regular(world)
    return {
      send: login(world, '/login', { ...who, password: otherPassword }),
      async reached() {
        assert.equal((await login(world, '/login', who)()).is, '200', 'the right one is refused')
      },
    }
  },
}

const disabled: Flow = {
  name: '/login of somebody disabled',
  options: withoutLimits,
  expects: '401 invalid_credentials',
  unavailable,
  async prepare(world) {
    const who = await regular(world)
    await world.host.auth[world.surface].users.update(who.id, { enabled: false })
    const held = newestHeld(world)
    return {
      send: login(world, '/login', who),
      reached: async () => expectEnded(world, held, ['admin']),
    }
  },
}

const unverified: Flow = {
  name: '/login before the address is verified',
  options: withoutLimits,
  expects: '403 email_not_verified',
  unavailable,
  async prepare(world) {
    const who = await world.person()
    await world.stored.users.update(who.id, { enabled: true }, { emailVerifiedAt: null })
    await world.stored.users.update(who.id, { enabled: true }, { name: 'Ada L.' })
    return { send: login(world, '/login', who), reached: async () => {} }
  },
}

export const loginFlows: readonly Flow[] = [
  signsIn('/login'),
  signsIn('/mobile/login'),
  knownAgain,
  oneTooMany,
  withWeakHash,
  overTheLimit,
  expiredPassword,
  wrongPassword,
  disabled,
  unverified,
]
