import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Auth, AuthError, type AuthOptions, type Backend, createAuth } from 'postern'
import { defineModule } from 'postern/config'
import { expressRouter } from 'postern/express'
import { type FaultMode, faultyBackend, withCall } from '../support/stores/faulty-backend.js'
import { type Chaos, chaosHeader, chaoticBackend, withChaos } from './chaos.js'
import { forkingBackend } from './forking-store.js'
import { githubStandIn } from './github-stand-in.js'
import { type Mailbox, type MailedToken, mailbox } from './mailbox.js'
import { type ClockLine, movingClock } from './moving-clock.js'
import { type PortCommands, portCommands } from './port-commands.js'
import { type Settled, steppedClock, type TimeFile } from './stepped-clock.js'

/** The options of `createAuth` that fit into JSON. */
export type PlainOptions = Partial<
  Pick<
    AuthOptions,
    | 'settings'
    | 'clockLeeway'
    | 'backendTimeout'
    | 'requestTimeout'
    | 'env'
    | 'sweep'
    | 'hash'
    | 'tokenMemory'
    | 'trustProxy'
  >
>

type RateLimitOptions = NonNullable<AuthOptions['surfaces']['client']['rateLimits']>

export interface HostConfig {
  readonly clock: ClockLine | TimeFile
  readonly options: PlainOptions
  /** Puts the bug into the store that the figures must find. */
  readonly planted: 'fork' | null
  /** Encrypts the settings' secrets: one for all hosts of a store. Default: one for this process. */
  readonly configKey?: string
  /** How many environments the module `shop` has; one by default. */
  readonly environments?: number
  /** In the place of none; of the client surface. */
  readonly rateLimits?: RateLimitOptions
  /** Timers of the background go as fast as a clock that is a line; by default in real time. */
  readonly pacesTimers?: boolean
}

/** What the host did so far. */
export interface HostState {
  readonly pid: number
  /** Events by type. */
  readonly events: Readonly<Record<string, number>>
  /** The last hundred log lines of level `error`. */
  readonly errors: readonly string[]
  readonly rssBytes: number
  /** What is live, and what has not been collected yet. */
  readonly heapUsedBytes: number
  /** Sockets, timers and whatever else keeps the process busy. */
  readonly resources: number
}

/** What a test can have a host do: argument and answer of every command. */
export interface Commands extends PortCommands {
  /** With a confirmed address unless said otherwise. */
  createUser(person: {
    email: string
    password: string
    emailVerified?: boolean
  }): Promise<{ id: string }>
  createOperator(person: { email: string; password: string }): Promise<{ id: string }>
  /** The `sender` of the module `shop`, as the host's own code reads it. */
  readSender(none: null): Promise<{ sender: string }>
  /** `first`: this call ended it. */
  terminate(of: { sessionId: string }): Promise<{ first: boolean }>
  terminateAll(of: { userId: string }): Promise<null>
  disable(of: { userId: string }): Promise<null>
  /** For a host whose clock is a line. */
  setClock(line: ClockLine): Promise<null>
  /** As `SteppedClock.settle`, for a host whose clock is stepped. */
  settle(none: null): Promise<Settled>
  reloadKeys(none: null): Promise<null>
  /** As `FaultyBackend.failNext`; without `times`, until `heal`. */
  failNext(fault: { call: string; mode: FaultMode; times?: number }): Promise<null>
  heal(none: null): Promise<null>
  state(none: null): Promise<HostState>
  /** As `Mailbox.next`: only this host's mail is in it. */
  mailed(to: { email: string }): Promise<MailedToken>
  forgetMail(to: { email: string }): Promise<null>
}

export interface RunningHost {
  readonly url: string
  close(): Promise<void>
}

/** One request's clock is ahead of the host's by this many milliseconds. */
export const aheadHeader = 'x-clock-ahead'

const never = { limit: 1_000_000_000, windowMs: 60_000 }
const unlimited = {
  registerPerIp: never,
  recoveryPerIp: never,
  recoveryPerAddress: never,
  confirmPerIp: never,
  refreshPerIp: never,
  refreshFamily: never,
  oauthPerIp: never,
  mfaPerIp: never,
  mfaPerTicket: never,
  mfaPerUser: never,
  passwordChangePerUser: never,
  addressChangePerUser: never,
  jwksPerIp: never,
  optionsPerIp: never,
  logoutPerIp: never,
  selfPerSession: never,
  changePerSession: never,
  endingPerSession: never,
  mfaPerSession: never,
  adminPerSession: never,
}

/** A module of the host's own: one text and one list. */
function shopModule(environments: number) {
  return defineModule({
    name: 'shop',
    environments: Array.from({ length: environments }, (_, index) => `e${index}`),
    fields: [
      { key: 'sender', label: 'Sender', type: 'FieldString', group: 'Shop' },
      {
        key: 'hooks',
        label: 'Hooks',
        type: 'FieldRecordList',
        group: 'Shop',
        items: [{ key: 'url', label: 'URL', type: 'FieldString' }],
      },
    ],
  })
}

const ownConfigKey = randomBytes(32).toString('base64')

/** Where its callers reach it. */
const hosts = ['127.0.0.1']

const cheapHash = {
  params: { memoryCost: 64, timeCost: 1, parallelism: 1 },
  allowWeakHashesForTests: true,
  queue: 10_000,
} as const

/**
 * A host with the library in it, on a free port, which also answers `POST /control/<command>`.
 * `keys` is asked for the ring whenever the library wants to read it anew.
 */
export async function startHost(
  inner: Backend,
  keys: AuthOptions['keys'],
  config: HostConfig,
): Promise<RunningHost> {
  const { options, planted, configKey = ownConfigKey, environments = 1 } = config
  const limits = { ...unlimited, ...config.rateLimits }
  const { clock, ahead, followed, ...timing } = timingOf(config)
  const { backend: faulty, ...faults } = faultyBackend(followed(inner), { keepsCalls: false })
  const backend = chaoticBackend(faulty)
  const events: Record<string, number> = {}
  const errors: string[] = []
  const mail = mailbox()
  const shop = shopModule(environments)
  const quiet = (): void => {}
  const auth = await createAuth({
    hash: cheapHash,
    env: {},
    ...options,
    settings: { loginRateClient: 1000, lockoutThreshold: 0, ...options.settings },
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com', hosts, rateLimits: unlimited },
      client: { baseUrl: 'https://app.example.com', hosts, rateLimits: limits },
    },
    // Outermost, so that there is time between its look and its write.
    backend: planted === null ? backend : forkingBackend(backend),
    keys,
    configKeys: [{ id: 'test', key: configKey }],
    modules: [shop],
    authorizer: { check: async () => true },
    clock,
    fetcher: githubStandIn,
    mailer: mail,
    logger: {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error(message, fields) {
        errors.push(`${message} ${JSON.stringify(fields ?? {})}`)
        errors.splice(0, errors.length - 100)
      },
    },
    onEvent: ({ type }) => {
      events[type] = (events[type] ?? 0) + 1
    },
  })
  await auth.migrate()
  const state = (): HostState => ({
    pid: process.pid,
    events,
    errors,
    rssBytes: process.memoryUsage.rss(),
    heapUsedBytes: process.memoryUsage().heapUsed,
    resources: process.getActiveResourcesInfo().length,
  })
  const commands = {
    ...commandsOf(auth, timing, faults, mail, state),
    readSender: async () => ({ sender: (await auth.config.read(shop)).sender }),
    ...portCommands(inner),
  }
  const router = expressRouter(auth.both)
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const command = request.url?.split('/control/')[1]
    if (command !== undefined) void control(commands, command, request, response)
    else router(request, response, () => response.writeHead(404).end())
  }
  const server = createServer((request, response) => {
    ahead(Number(request.headers[aheadHeader] ?? 0), () =>
      underChaos(request, () => serve(request, response)),
    )
  })
  // A connection kept for long must not be closed the moment it is used again.
  server.keepAliveTimeout = 600_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await auth.close()
    },
  }
}

/** A host's clock and what a test may do to it. */
function timingOf({ clock: given, pacesTimers }: HostConfig) {
  if ('timeFile' in given) {
    const clock = steppedClock(given)
    return {
      clock,
      ahead: (_ms: number, work: () => void) => work(),
      followed: (backend: Backend) =>
        withCall(backend, (name, work) =>
          // What the sweeper does, and nothing that a request waits for.
          /^lease\.|\.sweep$/.test(name) ? clock.following(name, work) : work(),
        ),
      setClock: () => Promise.reject(new Error('this clock is stepped')),
      settle: () => clock.settle(),
    }
  }
  const clock = movingClock(given, pacesTimers)
  return {
    clock,
    ahead: (ms: number, work: () => void) => clock.ahead(ms, work),
    followed: (backend: Backend) => backend,
    async setClock(line: ClockLine) {
      clock.set(line)
      return null
    },
    settle: () => Promise.reject(new Error('this clock is not stepped')),
  }
}

function commandsOf(
  auth: Auth,
  timing: Pick<Commands, 'setClock' | 'settle'>,
  faults: Pick<ReturnType<typeof faultyBackend>, 'failNext' | 'heal'>,
  mail: Mailbox,
  state: () => HostState,
): Omit<Commands, keyof PortCommands | 'readSender'> {
  const { client } = auth
  return {
    ...timing,
    async createOperator({ email, password }) {
      const { id } = await auth.operator.users.create({ email, password, emailVerified: true })
      return { id }
    },
    async createUser({ email, password, emailVerified = true }) {
      const { id } = await client.users.create({ email, password, emailVerified })
      return { id }
    },
    terminate: async ({ sessionId }) => ({ first: await client.terminateSession(sessionId) }),
    async terminateAll({ userId }) {
      await client.terminateSessionsOf(userId)
      return null
    },
    async disable({ userId }) {
      await client.users.update(userId, { enabled: false })
      return null
    },
    async reloadKeys() {
      await auth.keys.reload()
      return null
    },
    async failNext({ call, mode, times = Number.POSITIVE_INFINITY }) {
      faults.failNext(call, mode, times)
      return null
    },
    async heal() {
      faults.heal()
      return null
    },
    state: async () => state(),
    mailed: ({ email }) => mail.next(email),
    async forgetMail({ email }) {
      mail.empty(email)
      return null
    },
  }
}

function underChaos(request: IncomingMessage, work: () => void): void {
  const header = request.headers[chaosHeader]
  const chaos: Chaos | null = typeof header === 'string' ? JSON.parse(header) : null
  if (chaos === null) work()
  else withChaos(chaos, work)
}

async function control(
  commands: Commands,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let status = 200
  let answer: unknown
  try {
    // The names and arguments come from `control` in replicas.ts, typed by the same interface.
    const command: (given: never) => Promise<unknown> = commands[name as keyof Commands]
    answer = await command(JSON.parse(await text(request)) as never)
  } catch (error) {
    status = error instanceof AuthError ? error.status : 500
    const { code, cause } = error instanceof AuthError ? error : { code: 'error', cause: error }
    answer = { code, cause: String(cause) }
  }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}
