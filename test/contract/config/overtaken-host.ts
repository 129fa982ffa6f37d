import { type ModuleCollections, moduleCollectionsOf } from '../../../src/model/configuration.js'
import type { Random } from '../../../src/ports/host.js'
import { systemRandom } from '../../../src/system/machine.js'
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
    random: withoutPauses,
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

/** The pause before another attempt is of a random length: this one makes it none. */
export const withoutPauses: Random = {
  bytes: (length) => (length === 1 ? new Uint8Array(1) : systemRandom.bytes(length)),
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
