import { availableParallelism } from 'node:os'
import { argon2Hasher, nodeRsHasher } from '../crypto/argon2-hashers.js'
import { loadCommonPasswords } from '../crypto/common-passwords.js'
import { hashGate } from '../crypto/hash-gate.js'
import type { LegacyFormat } from '../crypto/legacy-formats.js'
import { createBreachCheck, createPasswordHashes } from '../domain/hashing/password-hashes.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { argon2ParamsProblem, defaultArgon2Params } from '../engine/passwords.js'
import { loadPart, OptionsError } from '../errors/index.js'
import type { GivenOptions, HashOptions } from '../options.js'
import type { Argon2Params, Fetcher, LegacyHashes, PasswordHasher } from '../ports/host.js'
import { hashQueueInstruments } from '../telemetry/open-telemetry.js'
import type { Env } from './configuration.js'
import { contextWordsOf, givenSurfaces } from './surfaces.js'

type System = Pick<SurfaceContext, 'clock' | 'issuer' | 'logger' | 'random'> & {
  readonly env: Env
  readonly fetcher: Fetcher
}

/** What checks and hashes passwords, for both surfaces: hashes are made by one gate, and words are forbidden to all. */
export async function passwordParts(
  options: GivenOptions,
  { clock, env, fetcher, issuer, logger, random }: System,
) {
  const { hash = {}, legacyHashes, legacyVerifiers = [], passwordContextWords = [] } = options
  const concurrency = hash.concurrency ?? defaultConcurrency(availableParallelism(), env)
  const passwords = createPasswordHashes({
    hasher: await chooseHasher(hash.implementation),
    params: hashParams(hash),
    gate: hashGate({
      concurrency,
      queue: hash.queue ?? 64,
      clock,
      metrics: hashQueueInstruments(options.meterProvider),
    }),
    legacyVerifiers,
    ...(legacyHashes === undefined ? {} : { legacyFormats: () => formatsOf(legacyHashes) }),
    random,
    clock,
    evensOut: hash.allowWeakHashesForTests !== true,
    logger,
  })
  const ownWords = contextWordsOf(
    issuer,
    givenSurfaces(options.surfaces).map(([, own]) => own),
  )
  return {
    passwords,
    // Loaded when the first password is set: a process that only guards routes never needs them.
    commonPasswords: loadCommonPasswords,
    breachCheck: createBreachCheck({ fetcher, clock }),
    contextWords: [...ownWords, ...passwordContextWords],
  }
}

/** Loaded for the first older hash: most processes never meet one. */
async function formatsOf(on: LegacyHashes): Promise<readonly LegacyFormat[]> {
  const load = () => import('../crypto/legacy-formats.js')
  const { legacyFormats } = await loadPart('formats of older hashes', load)
  return legacyFormats(on)
}

/** The hasher the host chose; `@node-rs/argon2` is loaded only for hosts that ask for it. */
async function chooseHasher(
  implementation: HashOptions['implementation'] = 'argon2',
): Promise<PasswordHasher> {
  if (typeof implementation === 'object') return implementation
  if (implementation === 'argon2') return argon2Hasher()
  const hasher = nodeRsHasher()
  try {
    // Loads the package: a missing one should be met here and not at the first login.
    await hasher.hash(new Uint8Array(8), defaultArgon2Params, new Uint8Array(16))
  } catch (cause) {
    const remedy = 'needs the package @node-rs/argon2: npm install @node-rs/argon2'
    throw new OptionsError('hash.implementation', remedy, { cause })
  }
  return hasher
}

/** The costs in force; throws below the floor unless a test suite said that it means it. */
function hashParams(options: HashOptions = {}): Argon2Params {
  const params = options.params ?? defaultArgon2Params
  const problem = argon2ParamsProblem(params, options.allowWeakHashesForTests === true)
  if (problem !== null) throw new OptionsError('hash.params', problem)
  return params
}

/** About 20 MiB each at the default costs, so that all of them stay below 64 MiB. */
const mostAtOnce = 3

/**
 * At most three, however large the machine is; a host with the memory for more says so. And one hash less at once than
 * the thread pool has threads: signing and reading files go through that pool too, and must not wait behind a flood of
 * logins. If there are more than two cores, one is left to everything else. If there are two, both are used: with one
 * hash at a time half the machine would stand idle, and the event loop gets its share of a core from the scheduler all
 * the same.
 */
export function defaultConcurrency(cores: number, env: Env): number {
  const asked = Number(env['UV_THREADPOOL_SIZE'])
  const threads = Number.isInteger(asked) && asked > 0 ? asked : 4
  return Math.max(1, Math.min(mostAtOnce, cores > 2 ? cores - 1 : cores, threads - 1))
}
