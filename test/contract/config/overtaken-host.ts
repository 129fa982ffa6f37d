import {
  type ModuleCollections,
  moduleCollectionsOf,
} from '../../../src/model/module-collections.js'
import type { HostOptions } from '../../support/hosts/hosts.js'
import { withCall } from '../../support/stores/faulty-backend.js'
import { type ConfigHost, configHost } from './config-host.js'

/**
 * A host on which, once `arm` was called, `first` comes before the next store call of a name. It is what another
 * process does: writers of one process wait for each other.
 */
export async function overtakenHost(
  call: string,
  first: (collections: ModuleCollections) => Promise<void>,
  options: HostOptions = {},
): Promise<{ readonly host: ConfigHost; arm(): void }> {
  let armed = false
  const host = await configHost({
    ...options,
    wrapBackend: (backend) => {
      const collections = moduleCollectionsOf(backend.store, '')
      return withCall(backend, async (called, work) => {
        if (armed && called === call) {
          armed = false
          await first(collections)
        }
        return work()
      })
    },
  })
  return {
    host,
    arm: () => {
      armed = true
    },
  }
}

/** What a request came to that pauses before it tries again: the clock moves while it is under way. */
export async function whilePausing<T>({ clock }: ConfigHost, request: Promise<T>): Promise<T> {
  let isOver = false
  const over = request.finally(() => {
    isOver = true
  })
  while (!isOver) await clock.advance(1)
  return over
}

/** Another process edits an environment of `mail`, of whose values it knows nothing. */
export async function editElsewhere(
  { environments }: ModuleCollections,
  environment: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const id = `mail/${environment}`
  const seen = await environments.get(id)
  if (seen === null) throw new Error(`no environment ${id}`)
  const next = { revision: seen.revision + 1, values, writeId: `elsewhere-${seen.revision}` }
  await environments.update(id, { revision: seen.revision }, next)
}
