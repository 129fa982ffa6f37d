import { memory } from '../../../adapters/memory/index.js'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import { openCollections } from '../../../src/domain/context/open-collections.js'
import { createPasswordHashes } from '../../../src/domain/hashing/password-hashes.js'
import { createRateLimiter } from '../../../src/domain/limits/rate-limiter.js'
import type { SurfaceContext } from '../../../src/domain/surface/surface-context.js'
import type { AuthSettings } from '../../../src/settings/settings.js'
import { systemRandom } from '../../../src/system/machine.js'
import { countingHasher } from '../../../src/testing/counting-hasher.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { testContext } from '../../support/test-context.js'

const shared = await testContext()
const defaults = await shared.settings()

/** The context of a surface, on a memory of its own, with a hasher that counts. */
export function factorRig(changes: Partial<AuthSettings> = {}) {
  const backend = memory()
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const hasher = countingHasher(argon2Hasher())
  const ctx = {
    ...shared,
    clock,
    collections: openCollections(backend.store, 'client', ''),
    denylist: backend.denylist,
    limits: createRateLimiter({
      ...{ surface: 'client', clock, counter: backend.counter, logger: shared.logger },
      overrides: {},
    }),
    settings: async () => ({ ...defaults, ...changes }),
    passwords: createPasswordHashes({
      hasher,
      legacyVerifiers: [],
      gate: (_line, job) => job(),
      params: { memoryCost: 64, timeCost: 1, parallelism: 1 },
      random: systemRandom,
      clock,
    }),
  } satisfies SurfaceContext
  return { ctx, hasher }
}
