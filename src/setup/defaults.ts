import { type BackgroundTasks, createBackgroundTasks } from '../concurrency/background-tasks.js'
import { uuidv7 } from '../crypto/secrets.js'
import { defaultRiskScorer } from '../domain/login/login-risk.js'
import type { AuthOptions } from '../options.js'
import type { Backend } from '../ports/backend.js'
import type { Clock, Fetcher, Logger, Random } from '../ports/host.js'
import type { RiskScorer, SessionRiskScorer } from '../ports/risk-scorers.js'
import type { InRequest } from '../ports/telemetry.js'
import { failClosedBackend } from '../stores/fail-closed-backend.js'
import { consoleLogger, createLogContext, safeLogger } from '../system/loggers.js'
import { namesAhead, systemRandom } from '../system/machine.js'
import { later, systemClock } from '../system/system-clock.js'
import { systemFetcher } from '../system/system-fetcher.js'

type Env = Readonly<Record<string, string | undefined>>

/** What everything runs on: the host's own where it gave one. */
export interface Defaults {
  /** Wrapped: whatever it does, it fails closed and in time. */
  readonly backend: Backend
  readonly background: BackgroundTasks
  readonly clock: Clock
  readonly env: Env
  readonly fetcher: Fetcher
  readonly inRequest: InRequest
  readonly issuer: string
  readonly logger: Logger
  /** The prefix of the names of all collections. */
  readonly prefix: string
  readonly random: Random
  readonly riskScorer: RiskScorer
  readonly sessionRiskScorer: SessionRiskScorer | null
}

export function defaultsOf(options: AuthOptions, processEnv: Env): Defaults {
  const { clock = systemClock, backendTimeout: timeoutMs = 5000 } = options
  const random = options.random ?? namesAhead(systemRandom)
  // A host with a logger of its own may follow requests by itself, and need not pay for it twice.
  const isFollowed = options.logger === undefined || options.requestIdHeader !== undefined
  const newId = () => uuidv7(clock.now(), random)
  const context = isFollowed ? createLogContext(options.requestIdHeader, newId) : null
  const alone: InRequest = (_operation, _request, work) => work()
  const logger = safeLogger(options.logger ?? consoleLogger(clock), context)
  return {
    backend: failClosedBackend(options.backend, { clock, logger, timeoutMs, later }),
    background: createBackgroundTasks(logger, later),
    clock,
    env: options.env ?? processEnv,
    fetcher: options.fetcher ?? systemFetcher,
    inRequest: context?.inRequest ?? alone,
    issuer: options.issuer ?? options.surfaces.operator.baseUrl,
    logger,
    prefix: options.collectionPrefix ?? '',
    random,
    riskScorer: options.riskScorer ?? defaultRiskScorer,
    sessionRiskScorer: options.sessionRiskScorer ?? null,
  }
}
