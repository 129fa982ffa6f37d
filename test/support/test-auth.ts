import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expressRouter } from '../../adapters/express.js'
import { memory } from '../../adapters/memory.js'
import { type Auth, createAuth } from '../../src/create-auth.js'
import type { Mountable } from '../../src/http/exchange.js'
import type { AuthOptions } from '../../src/options.js'
import type { Backend } from '../../src/ports/backend.js'
import type { AuthEvent } from '../../src/ports/telemetry.js'
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.js'
import { testConfigKeys, testSigningKey } from './keys.js'
import { recordingLogger } from './recording-logger.js'
import { type RecordingMailer, recordingMailer } from './recording-mailer.js'

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
}

export async function testAuth({ sweeps, ...options }: TestOptions = {}): Promise<TestAuth> {
  const backend = options.backend ?? memory()
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const mailer = recordingMailer()
  const logger = recordingLogger()
  const events: AuthEvent[] = []
  const auth = await createAuth({
    keys: { current: await testSigningKey() },
    configKeys: testConfigKeys,
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com' },
    },
    mailer,
    logger,
    clock,
    env: {},
    onEvent: (event) => events.push(event),
    hash: cheapHash,
    // Its calls in the background would be met by chance in suites about something else.
    ...(sweeps ? {} : { sweep: false }),
    ...options,
    settings: { registrationOperatorEnabled: true, ...options.settings },
    backend,
  })
  await auth.migrate()
  // What starting tells of is met in its own suite.
  events.splice(0)
  return { auth, backend, clock, mailer, events, logger }
}

export interface RunningHost {
  readonly url: string
  close(): Promise<void>
}

/** A real server on a free port. */
export async function listen(server: Server): Promise<RunningHost> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.closeAllConnections()
        server.close((error) => (error ? reject(error) : resolve()))
      }),
  }
}

export function expressHost(mountable: Mountable): Promise<RunningHost> {
  const app = express()
  app.use(expressRouter(mountable))
  return listen(createServer(app))
}
