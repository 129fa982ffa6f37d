import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { openCollections } from '../../../src/domain/context/open-collections.js'
import { raiseDeviceEpoch, sparing } from '../../../src/domain/factors/factor-changes.js'
import { AuthError } from '../../../src/errors/index.js'
import type { User } from '../../../src/model/user.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { user, userId } from './removals-in-turns.js'

/** As a change does whose proof is as old as the epoch that was read. */
async function requireRight({ deviceEpoch }: User): Promise<void> {
  if (deviceEpoch !== user.deviceEpoch) throw new AuthError('step_up_required')
}

async function rig() {
  const store = faultyBackend(memory())
  const { users } = openCollections(store.backend.store, 'client', '')
  await users.insert(user)
  const raise = (sessionId: string) =>
    raiseDeviceEpoch(users, userId, { kept: sparing(sessionId), requireRight })
  return { store, users, raise }
}

describe('raising the epoch of the factors', () => {
  it('is done where the driver carries the write out twice', async () => {
    const { store, raise } = await rig()
    store.failNext('client_users.update', 'twice')
    const raised = await raise('own').catch((error: unknown) => error)
    expect(raised).toMatchObject({
      ...{ deviceEpoch: user.deviceEpoch + 1, sessionEpoch: user.sessionEpoch + 1 },
      keptSessionId: 'own',
    })
  })

  it('is refused where another session did it first', async () => {
    const { store, users, raise } = await rig()
    store.onCall('client_users.update', async () => {
      await raise('another')
    })
    await expect(raise('own')).rejects.toMatchObject({ code: 'step_up_required' })
    expect(await users.get(userId)).toMatchObject({
      ...{ deviceEpoch: user.deviceEpoch + 1, keptSessionId: 'another' },
    })
  })
})
