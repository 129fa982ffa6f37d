import { uuidv7 } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import {
  environmentId,
  type ModuleEnvironment,
  type ModuleRevision,
  type RevisionOrigin,
  revisionId,
} from '../../model/configuration.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { ConfigDeps, RegisteredModule } from './config-views.js'

// The one place where values are written: never but by compare-and-set on the revision.

/** The next revision of an environment, secrets encrypted. */
export interface NextRevision {
  readonly values: Readonly<Record<string, string>>
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** `null` for what the library writes itself: first values, a new encryption. */
  readonly writtenBy: string | null
}

type Deps = Pick<ConfigDeps, 'collections' | 'clock' | 'random' | 'background'>

/** Every lost race is an activation, or another edit, that was written. */
const attempts = 50

const stamp = ({ clock, random }: Deps) => ({
  writtenAt: clock.now(),
  writeId: uuidv7(clock.now(), random),
})

/** Resolves with false when there is such an environment already. */
export async function createEnvironment(
  config: Deps,
  module: RegisteredModule,
  environment: string,
  first: NextRevision,
): Promise<boolean> {
  return config.collections.environments.insert({
    id: environmentId(module.name, environment),
    revision: 1,
    ...first,
    ...stamp(config),
    activation: null,
    expiresAt: null,
  })
}

/** Replaces `seen` by its next revision. `null` when another write came first: nothing is changed then. */
export async function replaceEnvironment(
  config: Deps,
  module: RegisteredModule,
  environment: string,
  { seen, next }: { readonly seen: ModuleEnvironment; readonly next: NextRevision },
): Promise<ModuleEnvironment | null> {
  const revision = seen.revision + 1
  const own = stamp(config)
  // Before the write, so that no crash leaves a revision without its record; racers all write
  // the same one, because it tells of the revision they replace and of nothing else.
  await appendRevision(config, module, environment, seen)
  if (seen.activation !== null) await withdrawActivation(config, module.name)
  const set = { revision, ...next, ...own, activation: null }
  const written = await writeOrExplain(config, seen, set)
  if (written !== null) {
    config.background.run('trimming the history of an environment', async () => {
      await trimHistory(config, module.name, environment, revision)
      // Also after the revision before, whose process may have ended just then.
      if ([...seen.removed, ...written.removed].some(isOfElement))
        await forgetRemoved(config, written)
    })
  }
  return written
}

/** Call it before the values change: an activation that judged the earlier values can then no longer be written. */
function withdrawActivation({ collections: { modules } }: Deps, module: string): Promise<unknown> {
  return retryOnConflict(attempts, async () => {
    const seen = await modules.get(module)
    if (seen === null) throw new AuthError('service_unavailable')
    const { revision } = seen
    const moved = await modules.update(module, { revision }, { revision: revision + 1 })
    return moved ?? conflict
  })
}

async function writeOrExplain(
  { collections: { environments } }: Deps,
  seen: ModuleEnvironment,
  set: Omit<ModuleEnvironment, 'id' | 'expiresAt'>,
): Promise<ModuleEnvironment | null> {
  try {
    const { revision, activation } = seen
    return await environments.update(seen.id, { revision, activation }, set)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    // The answer was lost, but the write may have taken effect.
    const found = await environments.get(seen.id)
    if (found?.writeId === set.writeId) return found
    throw error
  }
}

/** A revision of an environment, without secrets. */
export interface ConfigRevision {
  readonly revision: number
  /** Epoch milliseconds. */
  readonly writtenAt: number
  /** The user who wrote it; null for the library itself: first values, a new encryption key. */
  readonly writtenBy: string | null
  /** The keys it set. About a secret, the history tells no more than this. */
  readonly changed: readonly string[]
  /** The keys it removed. */
  readonly removed: readonly string[]
  /** The texts of all fields that are not secret, at this revision. */
  readonly config: Readonly<Record<string, string>>
  /** The keys of the secrets that had a value. */
  readonly secretsSet: readonly string[]
}

/** Revisions of an environment that can be looked at. */
const kept = 50

/** Keeps a record of a revision about to be replaced. May be repeated. */
async function appendRevision(
  { collections: { revisions } }: Deps,
  module: RegisteredModule,
  environment: string,
  seen: ModuleEnvironment,
): Promise<void> {
  const { revision, changed, removed, writtenAt, writtenBy } = seen
  // False when another writer was first: with the very same record.
  await revisions.insert({
    id: revisionId(module.name, environment, revision),
    environmentId: seen.id,
    revision,
    ...module.redact(seen.values),
    changed,
    removed,
    writtenAt,
    writtenBy,
    expiresAt: null,
  })
}

/** Drops what fell out of the last fifty when `revision` was written. */
async function trimHistory(
  { collections: { revisions } }: Deps,
  module: string,
  environment: string,
  revision: number,
): Promise<void> {
  // Two, so that one left by a crash goes with the next write.
  for (const old of [revision - kept, revision - kept - 1]) {
    if (old > 0) await revisions.take(revisionId(module, environment, old))
  }
}

/** A key of a record element has a dot, and no other key has. */
const isOfElement = (key: string): boolean => key.includes('.')

/**
 * The values of revisions, without what later ones removed: an element that goes takes its plain values along, in the
 * history too. `entries` are newest first.
 */
function valuesLeft(
  entries: readonly Pick<ModuleRevision, 'values' | 'removed'>[],
): readonly ModuleRevision['values'][] {
  const gone = new Set<string>()
  return entries.map(({ values, removed }) => {
    const left = Object.entries(values).filter(([key]) => !gone.has(key))
    for (const key of removed) if (isOfElement(key)) gone.add(key)
    return Object.fromEntries(left)
  })
}

/** Takes values out of stored revisions that later ones removed. May be repeated. */
async function forgetRemoved(
  { collections: { revisions } }: Deps,
  current: ModuleEnvironment,
): Promise<void> {
  const asked = { environmentId: current.id }
  // Two more than are shown, as a crash may have left them.
  const found = await revisions.find(asked, { limit: kept + 2, newestFirst: true })
  const older = found.filter(({ revision }) => revision < current.revision)
  const [, ...left] = valuesLeft([current, ...older])
  for (const [at, { id, revision, values: before }] of older.entries()) {
    const values = left[at] ?? {}
    if (Object.keys(values).length === Object.keys(before).length) continue
    await revisions.update(id, { revision }, { values })
  }
}

/** The last fifty revisions, newest first, the present one included. */
export async function historyOf(
  { collections: { environments, revisions } }: Pick<ConfigDeps, 'collections'>,
  module: RegisteredModule,
  environment: string,
): Promise<readonly ConfigRevision[]> {
  const id = environmentId(module.name, environment)
  const current = await environments.get(id)
  if (current === null) throw new AuthError('environment_not_found')
  const found = await revisions.find({ environmentId: id }, { limit: kept, newestFirst: true })
  const shown = [
    current,
    // A record of the present revision is there when a write was begun and did not succeed.
    ...found.filter(({ revision }) => revision < current.revision),
  ]
  const last = shown.slice(0, kept)
  // A crash may have come before they were taken out of what is stored.
  const left = valuesLeft(last)
  return last.map((entry, at) => revisionView(module, { ...entry, values: left[at] ?? {} }))
}

/** The secrets of a record that are no longer among its values. */
interface Kept {
  readonly secretsSet?: readonly string[]
}

/** Looked at once more, because a field may have become a secret since. */
function revisionView(
  module: RegisteredModule,
  entry: Pick<ModuleRevision, 'revision' | 'values' | keyof RevisionOrigin> & Kept,
): ConfigRevision {
  const { revision, writtenAt, writtenBy, changed, removed } = entry
  const { values: config, secretsSet } = module.redact(entry.values)
  const all = [...new Set([...(entry.secretsSet ?? []), ...secretsSet])].sort()
  return { revision, writtenAt, writtenBy, changed, removed, config, secretsSet: all }
}
