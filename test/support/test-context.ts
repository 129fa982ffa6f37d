import { memory } from '../../adapters/memory/index.js'
import type { SurfaceContext } from '../../src/domain/surface/surface-context.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Surface } from '../../src/ports/surface.js'
import type { AuthSettings } from '../../src/settings/settings.js'
import type { ReadOptions } from '../../src/setup/check-options.js'
import { buildSurface } from '../../src/setup/mount-surface.js'
import { createShared } from '../../src/setup/shared-parts.js'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.js'
import { cheapHash } from './hosts/test-auth.js'
import { testConfigKeys, testSigningKey } from './keys.js'
import { recordingLogger } from './outside/recording-logger.js'
import { type RecordingMailer, recordingMailer } from './outside/recording-mailer.js'

export interface TestContext extends SurfaceContext {
  readonly backend: Backend
  readonly clock: FakeClock
  readonly logger: ReturnType<typeof recordingLogger>
  readonly mailer: RecordingMailer
}

export interface TestContextOptions {
  readonly surface?: Surface
  readonly backend?: Backend
  readonly clock?: FakeClock
  /** Settings that differ from the defaults. */
  readonly settings?: Partial<AuthSettings>
}

/**
 * The context of one surface as `createAuth` builds it, on a memory store and a fake clock. A test that needs another
 * part spreads it: `{ ...ctx, collections }`.
 */
export async function testContext({
  surface = 'client',
  backend = memory(),
  clock = fakeClock(Date.UTC(2026, 0, 1)),
  settings = {},
}: TestContextOptions = {}): Promise<TestContext> {
  const [logger, mailer] = [recordingLogger(), recordingMailer()]
  const surfaces = {
    operator: { baseUrl: 'https://admin.example.com' },
    client: { baseUrl: 'https://app.example.com' },
  }
  const options: ReadOptions = {
    ...{ backend, clock, logger, mailer, env: {}, hash: cheapHash, sweep: false },
    configKeys: testConfigKeys,
    keys: { current: await testSigningKey() },
    surfaces,
  }
  const shared = await createShared(options, {}, () => {})
  const on = (name: Surface): SurfaceContext =>
    buildSurface([name, surfaces[name]], options, shared, on).ctx
  const ctx = on(surface)
  await shared.config.register()
  return {
    ...ctx,
    ...{ backend, clock, logger, mailer },
    settings: async () => ({ ...(await ctx.settings()), ...settings }),
  }
}
