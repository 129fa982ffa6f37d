import {
  judgeFirstValues,
  type RefusedFirstValue,
} from '../../engine/configuration/module-values.js'
import { AuthError } from '../../errors/index.js'
import { environmentId, type Module, type ModuleEnvironment } from '../../model/configuration.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { ConfigDeps, RegisteredModule, Texts } from './config-views.js'
import type { ConfigWriter } from './config-writer.js'
import type { ProcessRoll } from './process-roll.js'

type Deps = Pick<ConfigDeps, 'collections' | 'modules' | 'emit' | 'logger'>

/** More than there can be writers of one environment at once. */
const attempts = 50

/**
 * Registers every module once: creates what the store lacks, gives values to keys that have
 * none yet, and writes down that this process uses it. A first value that its field cannot hold is not stored, and the log says so. Every step may be repeated and shared with other
 * processes that start at the same time; one that failed is taken again at the next call.
 */
export function createConfigRegistration(
  deps: Deps,
  writer: ConfigWriter,
  roll: Pick<ProcessRoll, 'join'>,
): () => Promise<void> {
  const { modules, environments } = deps.collections
  let done: Promise<void> | null = null

  async function registerAll(): Promise<void> {
    await Promise.all([...deps.modules.values()].map(register))
  }

  async function register(module: RegisteredModule): Promise<void> {
    const { usable, refused } = judgeFirstValues(module.seeds, module.fields, module.rule)
    const { activeEnvironment } = await ensureModule(module)
    await roll.join(module.name)
    const names = new Set([...module.environments, activeEnvironment])
    const stored = new Map<string, ModuleEnvironment>()
    for (const name of names) {
      const found = await environments.get(environmentId(module.name, name))
      if (found !== null) stored.set(name, found)
    }
    for (const name of names) {
      if (stored.has(name)) continue
      const seeds = name === activeEnvironment ? unowned(usable, [...stored.values()]) : {}
      await create(module, name, seeds)
    }
    const found = await seed(module, activeEnvironment, [...names], usable)
    const missing = unowned(module.seeds, found)
    report(
      module,
      refused.filter(({ field }) => Object.hasOwn(missing, field.key)),
    )
  }

  function report({ name }: RegisteredModule, refused: readonly RefusedFirstValue[]): void {
    for (const { field, problem } of refused) {
      const source = field.envVar === undefined ? '' : ` in ${field.envVar}`
      deps.logger.warn(
        `The first value of "${name}.${field.key}"${source} was not stored: it ${problem}. Correct it, and the next start stores it.`,
      )
    }
  }

  async function ensureModule(module: RegisteredModule): Promise<Module> {
    const [first = ''] = module.environments
    const fresh: Module = {
      id: module.name,
      activeEnvironment: first,
      activations: 0,
      processes: {},
      revision: 0,
      expiresAt: null,
    }
    const seen = (await modules.get(module.name)) ?? ((await modules.insert(fresh)) ? fresh : null)
    const found = seen ?? (await modules.get(module.name))
    if (found === null) throw new AuthError('service_unavailable')
    return found
  }

  async function create(module: RegisteredModule, name: string, seeds: Texts): Promise<void> {
    const keys = Object.keys(seeds).sort()
    const values = module.seal(name, seeds, keys)
    const first = { values, changed: keys, removed: [], writtenBy: null }
    if (await writer.create(module, name, first)) emitSeeded(module, name, 1, keys)
  }

  /**
   * Stores the first values that the active environment still lacks, where it existed before or another process created
   * it. Resolves with the environments as they were found.
   */
  async function seed(
    module: RegisteredModule,
    active: string,
    names: readonly string[],
    usable: Texts,
  ): Promise<readonly ModuleEnvironment[]> {
    return retryOnConflict(attempts, async () => {
      const all = await Promise.all(
        names.map((name) => environments.get(environmentId(module.name, name))),
      )
      const stored = all.filter((environment) => environment !== null)
      const seen = stored.find(({ id }) => id === environmentId(module.name, active))
      if (seen === undefined) throw new AuthError('service_unavailable')
      const seeds = unowned(usable, stored)
      const keys = Object.keys(seeds).sort()
      if (keys.length === 0) return stored
      const written = await writer.replace(module, active, seen, {
        values: { ...seen.values, ...module.seal(active, seeds, keys) },
        changed: keys,
        removed: [],
        writtenBy: null,
      })
      if (written === null) return conflict
      emitSeeded(module, active, written.revision, keys)
      return stored
    })
  }

  function emitSeeded(
    { name: module }: RegisteredModule,
    environment: string,
    revision: number,
    keys: readonly string[],
  ): void {
    if (keys.length === 0) return
    const actorId = null
    deps.emit('config.seeded', null, { actorId, module, environment, revision, keys })
  }

  return () => {
    done ??= registerAll().catch((error: unknown) => {
      done = null
      throw error
    })
    return done
  }
}

/**
 * The seeds of keys that have no value yet. A key that is there in any environment, empty or not, has
 * one. A record list is owned as a whole, by its roster or anything else below it.
 */
function unowned(seeds: Texts, stored: readonly ModuleEnvironment[]): Texts {
  const keys = stored.flatMap(({ values }) => Object.keys(values))
  const owned = new Set(keys.map(fieldOf))
  return Object.fromEntries(Object.entries(seeds).filter(([key]) => !owned.has(fieldOf(key))))
}

function fieldOf(key: string): string {
  return key.split('.')[0] ?? key
}
