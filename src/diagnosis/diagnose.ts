import { availableParallelism } from 'node:os'
import { withTimeout } from '../concurrency/promises.js'
import { inspectConfig } from '../domain/configuration/config-views.js'
import { defaultArgon2Params } from '../engine/passwords.js'
import { allCollectionSpecs } from '../model/collections.js'
import type { GivenOptions } from '../options.js'
import type { DiagnosisOptions, Finding } from '../ports/inspection.js'
import type { ReadOptions } from '../setup/check-options.js'
import { surfacesOf } from '../setup/configuration.js'
import { defaultConcurrency } from '../setup/password-hashing.js'
import { endpointsOf, type Shared } from '../setup/shared-parts.js'
import { mostMemory } from '../system/machine.js'
import {
  clockFindings,
  inspectionFindings,
  inspectionsOf,
  planFindings,
} from './database-findings.js'
import { type HashCost, hashingFindings } from './hashing-findings.js'
import { hostFindings, proxyFindings } from './host-findings.js'
import { configKeyFindings, keyFindings, totpFindings } from './key-findings.js'
import { providerFindings } from './provider-findings.js'
import {
  combinationFindings,
  idleWindowFindings,
  listFindings,
  nameFindings,
  settingsFindings,
} from './settings-findings.js'

export interface Diagnosed {
  readonly options: ReadOptions
  readonly shared: Shared
}

/** A database that has not answered by then does not answer. */
const answerWithinMs = 30_000
/** Less than this is the way to the database and back. */
const clockLeewayMs = 1000

/** Looks at the options, at what is stored and at what they need around them. Writes nothing. */
export async function diagnose(
  { options, shared }: Diagnosed,
  { offline = false }: DiagnosisOptions,
): Promise<readonly Finding[]> {
  const { backend, clock, env, fetcher, prefix, secretBox, surfaces } = shared
  // First, and alone: what runs beside it would be measured too.
  const hashing = hashingFindings(options, await hashCost(options, shared))
  const ring = await shared.keys.ring()
  const stored = databaseFindings(options, shared)
  const database = await withTimeout(stored, answerWithinMs, clock)
  // What is not migrated holds no values to look at.
  const modules = database.isReady ? await inspectConfig(shared.config) : []
  const apps = database.isReady
    ? await totpFindings({ store: backend.store, prefix, secretBox, surfaces })
    : []
  const own = modules.find(({ module }) => module === 'auth')
  const providers = await providerFindings({
    ...{ values: own?.values ?? {}, env, endpoints: endpointsOf(options) },
    ...{ declared: options.providers ?? [], clock: shared.clock },
    fetcher: offline ? null : fetcher,
  })
  return [
    ...proxyFindings(options),
    ...hostFindings(options),
    ...keyFindings(ring.warnings),
    ...database.findings,
    ...idleWindowFindings(env),
    ...settingsFindings(modules),
    ...listFindings(own?.values ?? {}),
    ...nameFindings(own),
    ...combinationFindings(
      own?.values ?? {},
      surfaces,
      options.adminStepUp ?? false,
      surfacesOf(options),
    ),
    ...apps,
    ...configKeyFindings(options.configKeys ?? keyOfEnvironment(env)),
    ...hashing,
    ...providers,
  ]
}

async function databaseFindings(
  { backend, clockLeeway = 0 }: GivenOptions,
  { clock, prefix, surfaces }: Shared,
): Promise<{ readonly findings: readonly Finding[]; readonly isReady: boolean }> {
  const specs = allCollectionSpecs(prefix, surfaces)
  const before = clock.now()
  const inspections = await inspectionsOf(backend, specs)
  const after = clock.now()
  const leeway = Math.max(clockLeewayMs, clockLeeway * 1000)
  const told = inspectionFindings(inspections)
  // A store that may forget refuses to be planned for, by the same reason.
  const plan = told.some(({ check }) => check === 'durability')
    ? []
    : await planFindings(backend, specs)
  const clocks = clockFindings(inspections, { before, after, leeway })
  return { findings: [...plan, ...told, ...clocks], isReady: plan.length === 0 }
}

async function hashCost(
  { hash = {} }: GivenOptions,
  { clock, env, passwords }: Shared,
): Promise<HashCost> {
  const line = { holder: 'operator', name: 'diagnosis' } as const
  const measured = async () => {
    const begun = clock.now()
    await passwords.hash('a password to measure by', line)
    return clock.now() - begun
  }
  // The first one loads the library.
  const first = await measured()
  const concurrency = hash.concurrency ?? defaultConcurrency(availableParallelism(), env)
  const asked = Number(env['UV_THREADPOOL_SIZE'])
  return {
    params: hash.params ?? defaultArgon2Params,
    ms: Math.min(first, await measured()),
    concurrency,
    threads: Number.isInteger(asked) && asked > 0 ? asked : 4,
    memory: mostMemory(),
  }
}

function keyOfEnvironment(env: Shared['env']) {
  const key = env['CONFIG_ENCRYPTION_KEY'] ?? ''
  return key === '' ? [] : [{ id: 'default', key }]
}
