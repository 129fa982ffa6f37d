import { environmentId } from '../../model/configuration.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { ConfigLocator, LocatedModule } from './config-reader.js'
import { type ConfigDeps, joinReencryptions, type Reencryption } from './config-views.js'
import type { ConfigWriter } from './config-writer.js'

type Deps = Pick<ConfigDeps, 'collections' | 'modules' | 'emit'>

/** More than there can be writers of one environment at once. */
const attempts = 50

/** Encrypts every secret again that is not under the current key. May be repeated and interrupted. */
export function createReencryption(
  deps: Deps,
  locator: ConfigLocator,
  writer: ConfigWriter,
): () => Promise<Reencryption> {
  const { environments } = deps.collections

  function reencrypt({ declared }: LocatedModule, name: string): Promise<Reencryption> {
    return retryOnConflict(attempts, async () => {
      const seen = await environments.get(environmentId(declared.name, name))
      if (seen === null) return { reencrypted: 0, damaged: [] }
      const plan = declared.planReencryption(name, seen.values)
      const damaged = [...plan.unreadable].sort().map((key) => ({
        module: declared.name,
        environment: name,
        key,
      }))
      const keys = Object.keys(plan.texts).sort()
      if (keys.length === 0) return { reencrypted: 0, damaged }
      const written = await writer.replace(declared, name, seen, {
        values: { ...seen.values, ...plan.texts },
        // No value is another one now.
        changed: [],
        removed: [],
        writtenBy: null,
      })
      if (written === null) return conflict
      deps.emit('config.reencrypted', null, {
        actorId: null,
        module: declared.name,
        environment: name,
        revision: written.revision,
        keys,
      })
      return { reencrypted: keys.length, damaged }
    })
  }

  return async () => {
    const all: Reencryption[] = []
    for (const name of deps.modules.keys()) {
      const located = await locator.module(name)
      for (const environment of locator.names(located)) {
        all.push(await reencrypt(located, environment))
      }
    }
    return joinReencryptions(all)
  }
}
