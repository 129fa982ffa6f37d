import { memory } from '../../../adapters/memory/index.js'
import { createAuth } from '../../../src/create-auth.js'
import type { AuthOptions } from '../../../src/options.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { AuthEvent } from '../../../src/ports/events.js'
import type { Auth } from '../../../src/setup/auth.js'
import { type FakeClock, fakeClock } from '../../../src/testing/fake-clock.js'
import { testConfigKeys, testSigningKey } from '../keys.js'
import { recordingLogger } from '../outside/recording-logger.js'
import { type RecordingMailer, recordingMailer } from '../outside/recording-mailer.js'

export interface TestAuth {
  readonly auth: Auth
  readonly backend: Backend
  readonly clock: FakeClock
  readonly mailer: RecordingMailer
  readonly events: AuthEvent[]
  readonly logger: ReturnType<typeof recordingLogger>
}

/** Cheap argon2id, so that suites about something else do not wait for it. */
export const cheapHash = {
  params: { memoryCost: 64, timeCost: 1, parallelism: 1 },
  allowWeakHashesForTests: true,
} as const

export interface TestOptions extends Partial<AuthOptions> {
  /** Lets this process take part in the sweep, as processes do unless told otherwise. */
  readonly sweeps?: true
  /** Has the default logger write on standard error, in place of the one that records. */
  readonly printsLog?: true
  /** Mailed codes are a way in for nearly everybody, so that there would be no last one. */
  readonly mailedCode?: boolean
}

const usualSurfaces: AuthOptions['surfaces'] = {
  operator: { baseUrl: 'https://admin.example.com' },
  client: { baseUrl: 'https://app.example.com' },
}

/**
 * Both surfaces at the address where tests reach their hosts, unless they list hosts of their own, and with every
 * operation of the table.
 */
function atLoopback(
  { operator, client }: AuthOptions['surfaces'],
  mailedCode: boolean,
): AuthOptions['surfaces'] {
  const usual = { hosts: ['127.0.0.1'], mailedCode }
  return { operator: { ...usual, ...operator }, client: { ...usual, ...client } }
}

export async function testAuth({
  sweeps,
  printsLog,
  mailedCode = true,
  ...options
}: TestOptions = {}): Promise<TestAuth> {
  const backend = options.backend ?? memory()
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const mailer = recordingMailer()
  const logger = recordingLogger()
  const events: AuthEvent[] = []
  const auth = await createAuth({
    keys: { current: await testSigningKey() },
    configKeys: testConfigKeys,
    mailer,
    ...(printsLog ? {} : { logger }),
    clock,
    env: {},
    onEvent: (event) => events.push(event),
    hash: cheapHash,
    // Its calls in the background would be met by chance in suites about something else.
    ...(sweeps ? {} : { sweep: false }),
    ...options,
    surfaces: atLoopback(options.surfaces ?? usualSurfaces, mailedCode),
    settings: { registrationOperatorEnabled: true, ...options.settings },
    backend,
  })
  await auth.migrate()
  // What starting tells of is met in its own suite.
  events.splice(0)
  return { auth, backend, clock, mailer, events, logger }
}
