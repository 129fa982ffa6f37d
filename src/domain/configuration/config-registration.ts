import { createWakeableTimer } from '../../concurrency/background-tasks.js'
import { lazily } from '../../concurrency/promises.js'
import { uuidv7 } from '../../crypto/secrets.js'
import {
  judgeFirstValues,
  type RefusedFirstValue,
} from '../../engine/configuration/module-values.js'
import {
  checkInMs,
  type RunningProcesses,
  withoutProcess,
  withProcess,
} from '../../engine/configuration/running-processes.js'
import { AuthError, describeError } from '../../errors/index.js'
import { environmentId, type Module, type ModuleEnvironment } from '../../model/configuration.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { ConfigDeps, RegisteredModule, Texts } from './config-views.js'
import { createEnvironment, replaceEnvironment } from './config-writer.js'

/** More than there can be writers of one environment at once. */
const attempts = 50

/**
 * Registers every module once: creates what the store lacks, gives values to keys that have
 * none yet, and writes down that this process uses it. A first value that its field cannot hold is not stored, and the log says so. Every step may be repeated and shared with other
 * processes that start at the same time; one that failed is taken again at the next call.
 */
export function registration(
  deps: ConfigDeps,
  roll: Pick<ProcessRoll, 'join'>,
): () => Promise<void> {
  let done: Promise<void> | null = null
  return () => {
    done ??= registerAll(deps, roll).catch((error: unknown) => {
      done = null
      throw error
    })
    return done
  }
}

async function registerAll(deps: ConfigDeps, roll: Pick<ProcessRoll, 'join'>): Promise<void> {
  await Promise.all([...deps.modules.values()].map((module) => register(deps, roll, module)))
}

async function register(
  deps: ConfigDeps,
  roll: Pick<ProcessRoll, 'join'>,
  module: RegisteredModule,
): Promise<void> {
  const { environments } = deps.collections
  const { usable, refused } = judgeFirstValues(module.seeds, module.fields, module.rule)
  const { activeEnvironment } = await ensureModule(deps, module)
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
    await create(deps, module, name, seeds)
  }
  const found = await seed(deps, module, { active: activeEnvironment, names: [...names], usable })
  const missing = unowned(module.seeds, found)
  report(
    deps,
    module,
    refused.filter(({ field }) => Object.hasOwn(missing, field.key)),
  )
}

function report(
  { logger }: ConfigDeps,
  { name }: RegisteredModule,
  refused: readonly RefusedFirstValue[],
): void {
  for (const { field, problem } of refused) {
    const source = field.envVar === undefined ? '' : ` in ${field.envVar}`
    logger.warn(
      `The first value of "${name}.${field.key}"${source} was not stored: it ${problem}. Correct it, and the next start stores it.`,
    )
  }
}

async function ensureModule(
  { collections: { modules } }: ConfigDeps,
  module: RegisteredModule,
): Promise<Module> {
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

async function create(
  deps: ConfigDeps,
  module: RegisteredModule,
  name: string,
  seeds: Texts,
): Promise<void> {
  const keys = Object.keys(seeds).sort()
  const values = module.seal(name, seeds, keys)
  const first = { values, changed: keys, removed: [], writtenBy: null }
  if (await createEnvironment(deps, module, name, first)) emitSeeded(deps, module, name, 1, keys)
}

/** The environments of a module, and the first values that their fields may hold. */
interface Seeding {
  readonly active: string
  readonly names: readonly string[]
  readonly usable: Texts
}

/**
 * Stores the first values that the active environment still lacks, where it existed before or another process created
 * it. Resolves with the environments as they were found.
 */
async function seed(
  deps: ConfigDeps,
  module: RegisteredModule,
  { active, names, usable }: Seeding,
): Promise<readonly ModuleEnvironment[]> {
  const { environments } = deps.collections
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
    const next = {
      values: { ...seen.values, ...module.seal(active, seeds, keys) },
      changed: keys,
      removed: [],
      writtenBy: null,
    }
    const written = await replaceEnvironment(deps, module, active, { seen, next })
    if (written === null) return conflict
    emitSeeded(deps, module, active, written.revision, keys)
    return stored
  })
}

function emitSeeded(
  { emit }: ConfigDeps,
  { name: module }: RegisteredModule,
  environment: string,
  revision: number,
  keys: readonly string[],
): void {
  if (keys.length === 0) return
  const actorId = null
  emit('config.seeded', null, { actorId, module, environment, revision, keys })
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

/** This process among those that use the modules. */
export interface ProcessRoll {
  /**
   * Writes down that this process uses a module from now on, before it reads a value: what it reads later is of the
   * activations it has written down, or of later ones. Checks in every five minutes from then on. Throws 503.
   */
  join(module: string): Promise<void>
  /** The processes of a module about to be written, with this one among them. */
  withOwn(module: Module): RunningProcesses
  /** Writes down that this process is at its end. Never rejects. */
  close(): Promise<void>
}

type Deps = Pick<ConfigDeps, 'collections' | 'clock' | 'random' | 'logger'>

/** More than there can be processes that start at once. */
const rollAttempts = 1000

export function createProcessRoll({ collections, clock, random, logger }: Deps): ProcessRoll {
  const { modules } = collections
  // Made when it is needed first: a construction without a module waits for no randomness.
  const ownId = lazily(() => uuidv7(clock.now(), random))
  const pause = createWakeableTimer(clock)
  /** The activations that there were when this process began to use each module. */
  const joined = new Map<string, number>()
  let loop: Promise<void> | null = null
  let closing = false

  /** Null where there is no such module any more. */
  function write(module: string, next: (seen: Module) => RunningProcesses): Promise<Module | null> {
    return retryOnConflict(rollAttempts, async () => {
      const seen = await modules.get(module)
      if (seen === null) return null
      const { revision } = seen
      const set = { processes: next(seen), revision: revision + 1 }
      return (await modules.update(module, { revision }, set)) ?? conflict
    })
  }

  function withOwn({ id: module, activations, processes }: Module): RunningProcesses {
    return withProcess(processes, ownId(), joined.get(module) ?? activations, clock.now())
  }

  async function checkIn(): Promise<void> {
    while (!closing) {
      await pause.wait(checkInMs)
      for (const module of joined.keys()) {
        if (closing) return
        try {
          await write(module, withOwn)
        } catch (error) {
          logger.warn(
            'a process could not say that it still runs; it tries again in five minutes',
            describeError(error),
          )
        }
      }
    }
  }

  return {
    withOwn,

    async join(module) {
      if (closing) return
      const written = await write(module, withOwn)
      const own = written?.processes[ownId()]
      if (own === undefined) return
      joined.set(module, own.activations)
      loop ??= checkIn()
    },

    async close() {
      closing = true
      pause.wake()
      await loop
      for (const module of joined.keys()) {
        try {
          await write(module, ({ processes }) => withoutProcess(processes, ownId(), clock.now()))
        } catch (error) {
          logger.warn(
            'a process could not say that it ends; "needsRestart" counts it for fifteen minutes more',
            describeError(error),
          )
        }
      }
      joined.clear()
    },
  }
}
