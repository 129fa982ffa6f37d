import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ImportReport, UserExport } from '../../../src/index.js'
import type { User } from '../../../src/model/user.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Flow, outcomeOfCall, threwUnavailable } from './flow.js'
import { newEmail } from './mail-and-login.js'
import type { World } from './world.js'

const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

const shared = {
  options: withoutLimits,
  expects: 'done',
  unavailable: threwUnavailable,
} as const satisfies Partial<Flow>

/** An account of another product, with all that takes writes of its own. */
function newRow(world: World) {
  const id = randomUUID()
  world.adopt(id)
  const issuer = 'https://accounts.google.com'
  const identities = [{ provider: 'google', issuer, subject: id } as const]
  return { id, email: newEmail(), emailVerified: true, identities, totpSecret }
}

/** Imports one row; what became of it at last. */
function importing(world: World, row: ReturnType<typeof newRow>) {
  let last: ImportReport | null = null
  return {
    send: () =>
      outcomeOfCall(async () => {
        last = await world.host.auth[world.surface].users.import({ users: [row] })
      }),
    outcome: () => last?.results[0]?.outcome,
  }
}

async function expectWhole({ stored }: World, { id, email }: ReturnType<typeof newRow>) {
  const user = await stored.users.get(id)
  assert.deepEqual([user?.email, user?.enabled, user?.importState], [email, true, null])
  assert.equal((await stored.totpFactors.get(id))?.confirmed, true)
  assert.equal((await stored.oauthIdentities.find({ userId: id }, { limit: 9 })).length, 1)
}

const imports: Flow = {
  ...shared,
  name: 'users.import',
  async prepare(world) {
    const row = newRow(world)
    const { send, outcome } = importing(world, row)
    return {
      send,
      async reached() {
        assert.match(String(outcome()), /^(created|skipped)$/)
        await expectWhole(world, row)
      },
    }
  },
}

const importsAgain: Flow = {
  ...shared,
  name: 'users.import of what is there',
  async prepare(world) {
    const row = newRow(world)
    const { send, outcome } = importing(world, row)
    await send()
    return {
      send,
      async reached() {
        assert.equal(outcome(), 'skipped')
        await expectWhole(world, row)
      },
    }
  },
}

const importsTaken: Flow = {
  ...shared,
  name: 'users.import with an identity of another account',
  async prepare(world) {
    const theirs = newRow(world)
    await importing(world, theirs).send()
    const row = { ...newRow(world), identities: theirs.identities }
    const { send, outcome } = importing(world, row)
    return {
      send,
      async reached() {
        assert.equal(outcome(), 'conflict')
        await expectWhole(world, theirs)
        assert.equal(await world.stored.users.get(row.id), null)
        assert.equal(await world.stored.totpFactors.get(row.id), null)
      },
    }
  },
}

const importsDeleted: Flow = {
  ...shared,
  name: 'users.import with the id of a deleted account',
  async prepare(world) {
    const row = newRow(world)
    await importing(world, row).send()
    await world.host.auth[world.surface].users.delete(row.id)
    const { send, outcome } = importing(world, row)
    return {
      send,
      async reached() {
        assert.equal(outcome(), 'refused')
        assert.equal(await world.stored.users.get(row.id), null)
      },
    }
  },
}

/** A row whose import got as far as the account itself. */
async function cutOff(world: World, importState: User['importState']) {
  const row = newRow(world)
  await importing(world, row).send()
  const { users, totpFactors } = world.stored
  await users.update(row.id, { enabled: true }, { enabled: false, importState })
  await totpFactors.take(row.id)
  return row
}

const enablesUnfinished: Flow = {
  ...shared,
  name: 'users.update that enables an account whose import was cut off',
  expects: 'threw import_unfinished',
  async prepare(world) {
    const row = await cutOff(world, 'unfinished')
    const { users } = world.host.auth[world.surface]
    return {
      send: () => outcomeOfCall(() => users.update(row.id, { enabled: true })),
      async reached() {
        assert.equal((await world.stored.users.get(row.id))?.enabled, false)
      },
    }
  },
}

const disablesUnfinished: Flow = {
  ...shared,
  name: 'users.update that disables an account whose import was cut off',
  async prepare(world) {
    const row = await cutOff(world, 'unfinished')
    const { users } = world.host.auth[world.surface]
    return {
      send: () => outcomeOfCall(() => users.update(row.id, { enabled: false })),
      async reached() {
        const user = await world.stored.users.get(row.id)
        assert.deepEqual([user?.enabled, user?.importState], [false, 'disabled'])
      },
    }
  },
}

const completesDisabled: Flow = {
  ...shared,
  name: 'users.import of an account that was cut off and disabled',
  async prepare(world) {
    const row = await cutOff(world, 'disabled')
    const { send, outcome } = importing(world, row)
    return {
      send,
      async reached() {
        assert.match(String(outcome()), /^(created|skipped)$/)
        const user = await world.stored.users.get(row.id)
        assert.deepEqual([user?.enabled, user?.importState], [false, null])
        assert.equal((await world.stored.totpFactors.get(row.id))?.confirmed, true)
      },
    }
  },
}

const completesChanged: Flow = {
  ...shared,
  name: 'users.import of an account that was cut off, with another identity',
  async prepare(world) {
    const cut = await cutOff(world, 'unfinished')
    const issuer = 'https://accounts.google.com'
    const identities = [{ provider: 'google', issuer, subject: randomUUID() } as const]
    const row = { ...cut, identities }
    const { send, outcome } = importing(world, row)
    return {
      send,
      async reached() {
        assert.match(String(outcome()), /^(created|skipped)$/)
        await expectWhole(world, row)
        const [identity] = await world.stored.oauthIdentities.find({ userId: row.id }, { limit: 9 })
        assert.equal(identity?.subject, identities[0]?.subject)
      },
    }
  },
}

/** It only reads: whatever fails, the next call answers whole. */
const exports: Flow = {
  ...shared,
  name: 'users.export',
  async prepare({ host, surface }) {
    const { id } = await host.auth[surface].users.create({ email: newEmail() })
    let last: UserExport | null = null
    return {
      send: () =>
        outcomeOfCall(async () => {
          last = await host.auth[surface].users.export(id)
        }),
      async reached() {
        assert.equal(last?.collections['users']?.[0]?.['id'], id)
      },
    }
  },
}

export const importFlows: readonly Flow[] = [
  exports,
  ...[imports, importsAgain, importsTaken, importsDeleted],
  ...[enablesUnfinished, disablesUnfinished, completesDisabled, completesChanged],
]
