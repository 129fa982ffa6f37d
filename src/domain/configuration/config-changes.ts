import { withTimeout } from '../../concurrency/promises.js'
import { randomToken } from '../../crypto/secrets.js'
import {
  type ConfigPatch,
  checkPatch,
  mayRetry,
  type PatchPlan,
  type PatchRefusal,
  planPatch,
} from '../../engine/configuration/config-patch.js'
import { checkValues, readModule } from '../../engine/configuration/module-values.js'
import { AuthError, ConfigValidationError, describeError } from '../../errors/index.js'
import { environmentId, type Module, type ModuleEnvironment } from '../../model/configuration.js'
import type { Clock } from '../../ports/host.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { MayStill } from '../context/actor.js'
import {
  type ConfigTarget,
  type Configuration,
  environmentNames,
  isActive,
  type LocatedModule,
  locateConfig,
  locateModule,
  storedEnvironment,
} from './config-store.js'
import {
  type EnvironmentView,
  environmentView,
  joinReencryptions,
  moduleSummary,
  type Reencryption,
} from './config-views.js'
import { replaceEnvironment } from './config-writer.js'

/** By whom an edit is made. */
export interface ConfigEditor extends MayStill {
  /** `null` for the host's code that names no actor. */
  readonly userId: string | null
  readonly source: RequestSource
}

/** Whose request it is. */
export interface ConfigActor extends ConfigEditor {
  readonly userId: string
}

export interface StatedPatch extends ConfigPatch {
  /** Only for a patch of the module: the environment that is meant, which has to be the active one. */
  readonly environment?: string
}

interface PatchedEnvironment {
  readonly located: LocatedModule
  readonly environment: string
  /** As it is now; the revision of before where the patch held nothing. */
  readonly written: ModuleEnvironment
}

/** A writer gives up after this many lost races that took at least this long. */
const leastAttempts = 50
const leastMs = 5_000
/** … or after this many, however fast. Every lost race is another caller's success. */
const mostAttempts = 500
/** A writer behind others of its process that are waiting for a silent store. */
const longestWaitMs = 10_000

/**
 * Edits an environment, or the active one of a module; all of it or nothing. A patch that holds nothing writes no
 * revision. What was located is read again only after a lost race, or behind another writer of this process. Throws
 * 404, `config.…` 422 and 409, a `ConfigValidationError`, or 503.
 */
export async function patchConfig(
  config: Configuration,
  target: ConfigTarget,
  patch: StatedPatch,
  actor: ConfigEditor,
): Promise<EnvironmentView> {
  const { name, fields } = target.module.declared
  const done = await writing(config, name, async () => {
    const route = target.environment === null ? 'module' : 'environment'
    const refusal = checkPatch(editOf(patch), fields, route)
    if (refusal !== null) throw refusalError(refusal)
    if (target.environment === null) requireActive(target, patch.environment)
    const asked = config.clock.now()
    return config.withLock(name, async (waited) => {
      if (config.clock.now() - asked >= longestWaitMs) throw new AuthError('service_unavailable')
      const found = waited ? await readAgain(config, target, patch) : target
      return untilWritten(config, found, patch, actor)
    })
  })
  const { located, environment, written } = done
  return environmentView(located.declared, environment, isActive(located, environment), written)
}

/** Drops what was read before a write, also before one that seems to have failed. */
async function writing<T>(
  { reader }: Configuration,
  module: string,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } finally {
    reader.drop(module)
  }
}

async function readAgain(
  config: Configuration,
  seen: ConfigTarget,
  patch: StatedPatch,
): Promise<ConfigTarget> {
  const { module, environment } = seen
  const found = await locateConfig(config, module.declared.name, environment?.name ?? null)
  if (environment === null) requireActive(found, statedEnvironment(seen, patch))
  return found
}

async function untilWritten(
  config: Configuration,
  located: ConfigTarget,
  patch: StatedPatch,
  actor: ConfigEditor,
): Promise<PatchedEnvironment> {
  const { clock, logger } = config
  let target = located
  const since = clock.now()
  for (let attempts = 1; attempts < mostAttempts; attempts += 1) {
    const done = await attempt(config, target, editOf(patch), actor)
    if (done !== null) return done
    // Also where a revision is stated: planned on the newer state, the edit says what it conflicts with.
    if (attempts >= leastAttempts && clock.now() - since >= leastMs) break
    await pause(config, attempts)
    target = await readAgain(config, target, patch)
  }
  const module = target.module.declared.name
  logger.warn('a configuration change gave up: others were always faster', { module })
  throw new AuthError('service_unavailable')
}

/**
 * None after the first lost race: what was located before the lock is often overtaken by a writer of this process
 * that has ended since. Then up to 20 ms, and up to 100 ms after the tenth and later.
 */
function pause({ clock, random }: Configuration, attempts: number): Promise<void> {
  const share = attempts === 1 ? 0 : (random.bytes(1)[0] ?? 0) / 256
  const ms = Math.floor(share * 10 * Math.min(attempts, 10))
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => clock.after(ms, resolve, true))
}

async function attempt(
  config: Configuration,
  { module: located, environment }: ConfigTarget,
  patch: ConfigPatch,
  actor: ConfigEditor,
): Promise<PatchedEnvironment | null> {
  const name = environment?.name ?? located.stored.activeEnvironment
  const seen = environment?.stored ?? (await storedEnvironment(config, located, name))
  const plan = planPatch(seen, patch, located.declared.fields)
  if (plan.kind === 'refused') throw refusalError(plan.refusal)
  const done = { located, environment: name }
  if (plan.changed.length + plan.removed.length === 0) return { ...done, written: seen }
  await validatePatch(config, { ...done, written: seen }, plan)
  await actor.askAgain?.()
  const next = {
    values: located.declared.seal(name, plan.values, plan.changed),
    changed: plan.changed,
    removed: plan.removed,
    writtenBy: actor.userId,
  }
  const written = await replaceEnvironment(config, located.declared, name, { seen, next })
  if (written === null) return null
  config.emit('config.changed', actor.source, {
    actorId: actor.userId,
    module: located.declared.name,
    environment: name,
    revision: written.revision,
    keys: [...written.changed, ...written.removed],
  })
  return { ...done, written }
}

async function validatePatch(
  config: Configuration,
  { located: { declared }, environment, written: seen }: PatchedEnvironment,
  plan: Extract<PatchPlan, { kind: 'next' }>,
): Promise<void> {
  const { name: module, fields: declarations, definition } = declared
  const { changed, removed } = plan
  const wrong = checkValues({ module, declarations, before: seen.values, ...plan }, declared.rule)
  if (wrong !== null) throw wrong
  if (definition.validatePatch === undefined) return
  const before = declared.open(environment, seen.values).values
  const { values, unreadable } = declared.open(environment, plan.values, changed)
  const secrets = [before, values].flatMap((texts) => declared.secretsIn(texts))
  const settings = readModule(values, definition)
  const changedKeys = [...changed, ...removed]
  const context = { environment, values, unreadable, settings, changedKeys }
  await runValidator(module, () => definition.validatePatch?.(context), secrets, config)
}

/** What is edited, without the environment that it is meant for. */
function editOf({ environment: _stated, ...edit }: StatedPatch): ConfigPatch {
  return edit
}

/** Longer than any key there is: callers get no more of what they sent. */
const longestField = 200

function refusalError({ code, message, field }: PatchRefusal): AuthError {
  const named = field === null ? {} : { field: field.slice(0, longestField).toWellFormed() }
  return new AuthError(code, { detail: message, ...named })
}

/**
 * The environment that a patch of a module is bound to: the one it names, or the one whose revision it states, which
 * is the one that was active when the module was located. Undefined for the one that is active at the write.
 */
function statedEnvironment({ module }: ConfigTarget, patch: StatedPatch): string | undefined {
  return patch.environment ?? (mayRetry(patch) ? undefined : module.stored.activeEnvironment)
}

function requireActive({ module }: ConfigTarget, stated: string | undefined): void {
  const { activeEnvironment } = module.stored
  if (stated === undefined || stated === activeEnvironment) return
  const detail = `The active environment is "${activeEnvironment}", another than was meant. Read it and retry.`
  throw new AuthError('config.revision_conflict', { detail })
}

export interface Activation {
  readonly module: string
  readonly activeEnvironment: string
  readonly needsRestart: boolean
}

/** More than there can be operators who switch at once, or writers of one environment. */
const attempts = 50

/**
 * Makes an environment the active one. It looks the environment up, runs the validator, and writes only while the values
 * are those that the validator saw. Throws 404, a `ConfigValidationError`, or 503; the active environment is then
 * unchanged.
 */
export async function activateEnvironment(
  config: Configuration,
  { module: seen }: ConfigTarget,
  environment: string,
  actor: ConfigActor,
): Promise<Activation> {
  const { definition, name: module } = seen.declared
  let located = seen
  let judged = ''
  const activated = () =>
    retryOnConflict(attempts, async () => {
      const { stored } = located
      const found = await storedEnvironment(config, located, environment)
      const isJudged = definition.validateActivation !== undefined
      if (isJudged && judged !== found.writeId) {
        await validateActivation(config, located, environment, found)
      }
      judged = found.writeId
      await actor.askAgain?.()
      const written = isJudged
        ? await writeMarked(config, stored, environment, found)
        : await writeActive(config, stored, environment)
      if (written !== null) {
        config.emit('config.activated', actor.source, {
          actorId: actor.userId,
          module,
          environment,
          previous: stored.activeEnvironment,
        })
        return written
      }
      located = await locateModule(config, module)
      return conflict
    })
  const written = await writing(config, module, activated)
  const { activeEnvironment, needsRestart } = moduleSummary(written, config.clock.now())
  return { module, activeEnvironment, needsRestart }
}

async function validateActivation(
  config: Configuration,
  { declared }: LocatedModule,
  environment: string,
  stored: ModuleEnvironment,
): Promise<void> {
  const { definition } = declared
  const { values, unreadable } = declared.open(environment, stored.values)
  const settings = readModule(values, definition)
  const context = { environment, values, unreadable, settings }
  const run = () => definition.validateActivation?.(context)
  await runValidator(declared.name, run, declared.secretsIn(values), config)
}

async function writeActive(
  { collections: { modules }, roll }: Configuration,
  seen: Module,
  environment: string,
): Promise<Module | null> {
  const revision = seen.revision + 1
  // Every activation counts, even of the environment that is active already. This process loaded older values, so it is
  // listed as one that awaits a restart.
  const counted = { activations: seen.activations + 1, processes: roll.withOwn(seen) }
  const set = { activeEnvironment: environment, ...counted, revision }
  try {
    return await modules.update(seen.id, { revision: seen.revision }, set)
  } catch (error) {
    // The answer was lost, but the write may have taken effect.
    const found = await modules.get(seen.id)
    const isSet = found?.activeEnvironment === environment && found.revision === revision
    if (isSet && found.activations === set.activations) return found
    throw error
  }
}

/**
 * The module is read first, then the values are judged and marked, then the module is written by what was read: an
 * edit of values that are marked moves the module before it moves them.
 */
async function writeMarked(
  config: Configuration,
  stored: Module,
  environment: string,
  judged: ModuleEnvironment,
): Promise<Module | null> {
  const { environments } = config.collections
  const { id, revision } = judged
  const activation = randomToken(config.random, 16)
  const guard = { revision, activation: judged.activation }
  if ((await environments.update(id, guard, { activation })) === null) return null
  const written = await writeActive(config, stored, environment)
  config.background.run('clearing the mark of an activation', async () => {
    await environments.update(id, { activation }, { activation: null })
  })
  return written
}

/** Encrypts every secret again that is not under the current key. May be repeated and interrupted. */
export async function reencryptConfig(config: Configuration): Promise<Reencryption> {
  const all: Reencryption[] = []
  for (const name of config.modules.keys()) {
    const located = await locateModule(config, name)
    for (const environment of environmentNames(located)) {
      all.push(await reencryptEnvironment(config, located, environment))
    }
  }
  return joinReencryptions(all)
}

function reencryptEnvironment(
  config: Configuration,
  { declared }: LocatedModule,
  name: string,
): Promise<Reencryption> {
  return retryOnConflict(attempts, async () => {
    const seen = await config.collections.environments.get(environmentId(declared.name, name))
    if (seen === null) return { reencrypted: 0, damaged: [] }
    const plan = declared.planReencryption(name, seen.values)
    const damaged = [...plan.unreadable].sort().map((key) => ({
      module: declared.name,
      environment: name,
      key,
    }))
    const keys = Object.keys(plan.texts).sort()
    if (keys.length === 0) return { reencrypted: 0, damaged }
    // No value is another one now.
    const unchanged = { changed: [], removed: [], writtenBy: null }
    const next = { values: { ...seen.values, ...plan.texts }, ...unchanged }
    const written = await replaceEnvironment(config, declared, name, { seen, next })
    if (written === null) return conflict
    config.emit('config.reencrypted', null, {
      actorId: null,
      module: declared.name,
      environment: name,
      revision: written.revision,
      keys,
    })
    return { reencrypted: keys.length, damaged }
  })
}

/** How long a validator may think: other writers of its environment wait meanwhile. */
const timeoutMs = 10_000

/**
 * Runs a module's validator. It accepts by returning nothing. Throws a `ConfigValidationError` for anything else that it
 * returns or throws: nothing is written then. A code is only taken from a `ConfigValidationError`, because errors of Node
 * and of drivers have codes too; anything else that comes is a fault of the validator, and logged. So is an error that
 * quotes one of the `secrets`: none of it is passed on, its code included.
 */
async function runValidator(
  module: string,
  validator: () => unknown,
  secrets: readonly string[],
  { clock, logger }: Pick<Configuration, 'clock' | 'logger'>,
): Promise<void> {
  const error = first(await outcomeOf(validator, clock))
  if (error === undefined) return
  if (error instanceof ConfigValidationError && isOfTexts(error)) {
    const { field, message, code = '' } = error
    const texts = [field, message, code]
    if (!secrets.some((secret) => texts.some((text) => quotes(text, secret)))) throw error
    logger.error(`a validator of the module "${module}" quoted a secret: its error is withheld`)
  } else {
    logger.error(`a validator of the module "${module}" failed`, describeError(error))
  }
  throw new ConfigValidationError('', 'The values could not be validated.')
}

/** A host without types may give it other members. */
function isOfTexts({ field, message, code = '' }: ConfigValidationError): boolean {
  return [field, message, code].every((member: unknown) => typeof member === 'string')
}

async function outcomeOf(validator: () => unknown, clock: Clock): Promise<unknown> {
  try {
    const run = async (): Promise<unknown> => validator()
    return await withTimeout(run(), timeoutMs, clock)
  } catch (error) {
    // Rejecting with nothing is a refusal too.
    return error ?? new Error('the validator threw nothing')
  }
}

/** The first one of several errors; undefined for none. */
function first(outcome: unknown): unknown {
  const all: readonly unknown[] = Array.isArray(outcome) ? outcome : [outcome]
  return all.find((one) => (one ?? null) !== null)
}

/**
 * Whether a text says a secret, as it is or as JSON or a URL would spell it. Taking only the secret out
 * would tell of it by the words that remain.
 */
function quotes(text: string, secret: string): boolean {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
  return forms.some((form) => form !== '' && text.includes(form))
}
