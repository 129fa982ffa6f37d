import { expect } from 'vitest'
import { collectionsOf } from '../../../src/model/collections.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { testAuth } from '../../support/hosts/test-auth.js'

/** Longer than the ten minutes after which a deletion is looked after once more. */
export const afterwards = 11 * 60_000

/** The first round of a process that sweeps, some seconds from now; what it told of. */
export async function sweepOnce(
  { backend, clock }: Pick<ContractHost, 'backend' | 'clock'>,
  surface: Surface,
): Promise<readonly AuthEvent[]> {
  const { auth, events } = await testAuth({ backend, clock, sweeps: true })
  await clock.advance(10_000)
  const { accountDeletions } = collectionsOf(backend.store, surface, '')
  // A database answers in its own time, and what waits for it sets its timers only then.
  const left = async () => {
    await clock.advance(1000)
    return accountDeletions.due(clock.now(), 1)
  }
  await expect.poll(left).toEqual([])
  await auth.close()
  return events
}

export const deleteUser = (host: ContractHost, surface: Surface, id: string): Promise<boolean> =>
  host.auth[surface].users.delete(id, { actorId: 'ops-7' })
