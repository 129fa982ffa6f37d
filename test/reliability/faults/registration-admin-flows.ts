import assert from 'node:assert/strict'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword } from '../../support/people/people.js'
import { type Flow, outcomeOfCall, threwUnavailable } from './flow.js'
import { askAgainWithoutMail, newEmail } from './mail-and-login.js'
import type { World } from './world.js'

/** A registration that waits, and the id of its user to be. */
async function waiting(world: World): Promise<{ readonly email: string; readonly id: string }> {
  const email = newEmail()
  const reply = await world.send('POST', '/register', { body: { email, password: goodPassword } })
  assert.equal(reply.status, 201, reply.text)
  await world.host.auth.close()
  const [found] = await world.stored.pendingRegistrations.find({ email }, { limit: 1 })
  return { email, id: found?.id ?? '' }
}

const list: Flow = {
  name: 'registrations.list',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { registrations } = world.host.auth[world.surface]
    await waiting(world)
    return {
      send: () =>
        outcomeOfCall(async () => {
          assert.notEqual((await registrations.list()).registrations.length, 0)
        }),
      reached: async () => {},
    }
  },
}

const resend: Flow = {
  name: 'registrations.resend',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { registrations } = world.host.auth[world.surface]
    const { email, id } = await waiting(world)
    const mailed = world.host.mailer.count(email)
    const ask = () => registrations.resend(id)
    return {
      send: () => outcomeOfCall(ask),
      reached: () => askAgainWithoutMail(world, email, mailed, ask),
    }
  },
}

const remove: Flow = {
  name: 'registrations.remove',
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { registrations } = world.host.auth[world.surface]
    const { email, id } = await waiting(world)
    return {
      send: () => outcomeOfCall(() => registrations.remove(id)),
      async reached() {
        assert.equal(await world.stored.pendingRegistrations.get(id), null)
        assert.deepEqual(await world.stored.intents.find({ boundTo: email }, { limit: 9 }), [])
      },
    }
  },
}

export const registrationAdminFlows: readonly Flow[] = [list, resend, remove]
