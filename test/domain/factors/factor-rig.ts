import { randomBytes } from 'node:crypto'
import { memory } from '../../../adapters/memory/index.js'
import { argon2Hasher } from '../../../src/crypto/argon2-hashers.js'
import { secretBox } from '../../../src/crypto/secret-box.js'
import { openCollections } from '../../../src/domain/context/open-collections.js'
import { createPasswordHashes } from '../../../src/domain/passwords/password-hashes.js'
import { type AuthSettings, readAuthSettings } from '../../../src/settings/settings.js'
import { systemRandom } from '../../../src/system/machine.js'
import { countingHasher } from '../../../src/testing/counting-hasher.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'

/** What services of second factors share, on a memory of their own. */
export function factorRig(changes: Partial<AuthSettings> = {}) {
  const backend = memory()
  const collections = openCollections(backend.store, 'client', '')
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const hasher = countingHasher(argon2Hasher())
  const { settings } = readAuthSettings({}, {})
  const key = { id: 'k1', key: randomBytes(32).toString('base64') }
  return {
    surface: 'client' as const,
    collections,
    denylist: backend.denylist,
    clock,
    hasher,
    random: systemRandom,
    logger: recordingLogger(),
    settings: async () => ({ ...settings, ...changes }),
    key,
    secretBox: secretBox([key], systemRandom),
    passwords: createPasswordHashes({
      hasher,
      legacyVerifiers: [],
      gate: (_line, job) => job(),
      params: { memoryCost: 64, timeCost: 1, parallelism: 1 },
      random: systemRandom,
      clock,
    }),
  }
}
