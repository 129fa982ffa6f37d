import { createKeyedMutex } from '../../concurrency/background-tasks.js'
import {
  type ConfigPatch,
  checkPatch,
  mayRetry,
  type PatchPlan,
  type PatchRefusal,
  planPatch,
} from '../../engine/configuration/config-patch.js'
import { checkValues, readModule } from '../../engine/configuration/module-values.js'
import { AuthError, ValueRefusal } from '../../errors/index.js'
import type { ModuleEnvironment } from '../../model/configuration.js'
import type { RequestSource } from '../../ports/surface.js'
import type { MayStill } from '../context/actor.js'
import type { ConfigLocator, ConfigTarget, LocatedModule } from './config-reader.js'
import { runValidator } from './config-validation.js'
import type { ConfigDeps } from './config-views.js'
import type { ConfigWriter } from './config-writer.js'

/** By whom an edit is made. */
export interface ConfigEditor extends MayStill {
  /** Null for the host's code that names no actor. */
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

export interface PatchedEnvironment {
  readonly located: LocatedModule
  readonly environment: string
  /** As it is now; the revision of before where the patch held nothing. */
  readonly written: ModuleEnvironment
}

export interface ConfigPatches {
  /**
   * Applies a patch to what was located; all of it or nothing. A patch that holds nothing writes no revision. What was
   * read there is read again only after a lost race, or behind another writer of this process. Throws 404, `config.…`
   * 422 and 409, a `ConfigValidationError`, or 503.
   */
  apply(target: ConfigTarget, patch: StatedPatch, actor: ConfigEditor): Promise<PatchedEnvironment>
}

type Deps = Pick<ConfigDeps, 'clock' | 'random' | 'logger' | 'emit'>

/** A writer gives up after this many lost races that took at least this long. */
const leastAttempts = 50
const leastMs = 5_000
/** … or after this many, however fast. Every lost race is another caller's success. */
const mostAttempts = 500
/** A writer behind others of its process that are waiting for a silent store. */
const longestWaitMs = 10_000

export function createConfigPatches(
  deps: Deps,
  locator: ConfigLocator,
  writer: ConfigWriter,
): ConfigPatches {
  const { clock, random, logger } = deps
  const withLock = createKeyedMutex()

  async function readAgain(seen: ConfigTarget, patch: StatedPatch): Promise<ConfigTarget> {
    const { module, environment } = seen
    const found = await locator.target(module.declared.name, environment?.name ?? null)
    if (environment === null) requireActive(found, statedEnvironment(seen, patch))
    return found
  }

  async function attempt(
    { module: located, environment }: ConfigTarget,
    patch: ConfigPatch,
    actor: ConfigEditor,
  ): Promise<PatchedEnvironment | null> {
    const name = environment?.name ?? located.stored.activeEnvironment
    const seen = environment?.stored ?? (await locator.environment(located, name))
    const plan = planPatch(seen, patch, located.declared.fields)
    if (plan.kind === 'refused') throw refusalError(plan.refusal)
    const done = { located, environment: name }
    if (plan.changed.length + plan.removed.length === 0) return { ...done, written: seen }
    await validate(located, name, seen, plan)
    await actor.askAgain?.()
    const written = await writer.replace(located.declared, name, seen, {
      values: located.declared.seal(name, plan.values, plan.changed),
      changed: plan.changed,
      removed: plan.removed,
      writtenBy: actor.userId,
    })
    if (written === null) return null
    deps.emit('config.changed', actor.source, {
      actorId: actor.userId,
      module: located.declared.name,
      environment: name,
      revision: written.revision,
      keys: [...written.changed, ...written.removed],
    })
    return { ...done, written }
  }

  async function validate(
    { declared }: LocatedModule,
    environment: string,
    seen: ModuleEnvironment,
    plan: Extract<PatchPlan, { kind: 'next' }>,
  ): Promise<void> {
    const { name: module, fields: declarations, definition } = declared
    const { changed, removed } = plan
    const wrong = checkValues({ module, declarations, before: seen.values, ...plan }, declared.rule)
    if (wrong !== null) throw new ValueRefusal(wrong)
    if (definition.validatePatch === undefined) return
    const before = declared.open(environment, seen.values).values
    const { values, unreadable } = declared.open(environment, plan.values, changed)
    const secrets = [before, values].flatMap((texts) => declared.secretsIn(texts))
    const settings = readModule(values, definition)
    const changedKeys = [...changed, ...removed]
    const context = { environment, values, unreadable, settings, changedKeys }
    await runValidator(module, () => definition.validatePatch?.(context), secrets, deps)
  }

  async function untilWritten(
    located: ConfigTarget,
    patch: StatedPatch,
    actor: ConfigEditor,
  ): Promise<PatchedEnvironment> {
    let target = located
    const since = clock.now()
    for (let attempts = 1; attempts < mostAttempts; attempts += 1) {
      const done = await attempt(target, editOf(patch), actor)
      if (done !== null) return done
      // Also where a revision is stated: planned on the newer state, the edit says what it conflicts with.
      if (attempts >= leastAttempts && clock.now() - since >= leastMs) break
      await pause(attempts)
      target = await readAgain(target, patch)
    }
    const module = target.module.declared.name
    logger.warn('a configuration change gave up: others were always faster', { module })
    throw new AuthError('service_unavailable')
  }

  /**
   * None after the first lost race: what was located before the lock is often overtaken by a writer of this process
   * that has ended since. Then up to 20 ms, and up to 100 ms after the tenth and later.
   */
  function pause(attempts: number): Promise<void> {
    const share = attempts === 1 ? 0 : (random.bytes(1)[0] ?? 0) / 256
    const ms = Math.floor(share * 10 * Math.min(attempts, 10))
    return ms === 0 ? Promise.resolve() : new Promise((resolve) => clock.after(ms, resolve))
  }

  return {
    async apply(target, patch, actor) {
      const { name, fields } = target.module.declared
      const route = target.environment === null ? 'module' : 'environment'
      const refusal = checkPatch(editOf(patch), fields, route)
      if (refusal !== null) throw refusalError(refusal)
      if (target.environment === null) requireActive(target, patch.environment)
      const asked = clock.now()
      return withLock(name, async (waited) => {
        if (clock.now() - asked >= longestWaitMs) throw new AuthError('service_unavailable')
        return untilWritten(waited ? await readAgain(target, patch) : target, patch, actor)
      })
    },
  }
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
