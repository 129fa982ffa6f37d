import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Flow, outcomeOfCall, sessionUnavailable, threwUnavailable } from './flow.js'

/** What was created and not finished is disabled, and its id is taken: nothing more is made of it. */
const creates: Flow = {
  name: 'serviceAccounts.create with an id',
  options: withoutLimits,
  surface: 'operator',
  expects: 'done',
  unavailable: threwUnavailable,
  async prepare(world) {
    const { serviceAccounts } = world.host.auth.operator
    const id = randomUUID()
    world.adopt(id)
    return {
      send: () => outcomeOfCall(() => serviceAccounts.create({ name: `Export ${id}`, id })),
      async reached() {
        assert.equal((await world.stored.users.get(id))?.kind, 'service')
      },
    }
  },
}

const rechecks: Flow = {
  name: 'recheck of a connection',
  options: withoutLimits,
  expects: 'done',
  unavailable: sessionUnavailable.map((is) => is.replace('503', 'threw')),
  async prepare(world) {
    const { sessionOf } = world.host.auth[world.surface]
    const { cookie } = await world.signIn(await world.person(), 'cookie')
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    const session = await sessionOf({ method: 'GET', headers }, { use: 'connection' })
    assert.ok(session !== null)
    return {
      send: () =>
        outcomeOfCall(async () => {
          assert.notEqual(await session.recheck(), null)
        }),
      reached: async () => {},
    }
  },
}

export const codeFlows: readonly Flow[] = [creates, rechecks]
