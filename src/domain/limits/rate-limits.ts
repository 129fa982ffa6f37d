import type { Surface } from '../../ports/surface.js'

/** At most `limit` hits within `windowMs` milliseconds. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

/**
 * The rate limits. Names with `…PerIp` count network addresses, with `…PerSession` sessions, the others
 * what they name.
 */
export type RateLimitName = AddressLimitName | SessionLimitName | AccountLimitName

/** The limits of requests whose account is not known. */
export type AddressLimitName =
  | 'registerPerIp'
  | 'recoveryPerIp'
  | 'confirmPerIp'
  | 'refreshPerIp'
  | 'oauthPerIp'
  | 'mfaPerIp'
  | 'grantPerIp'
  | 'jwksPerIp'
  | 'optionsPerIp'
  | 'logoutPerIp'

/** The limits of signed-in callers. */
export type SessionLimitName =
  | 'selfPerSession'
  | 'changePerSession'
  | 'endingPerSession'
  | 'mfaPerSession'
  | 'adminPerSession'

type AccountLimitName =
  | 'recoveryPerAddress'
  | 'refreshFamily'
  | 'mfaPerTicket'
  | 'mfaPerUser'
  | 'passwordChangePerUser'
  | 'addressChangePerUser'

/** All rate limits of a surface by name. */
export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>

const minute = 60_000

/** What the host may override. The login rate is a live setting and not among them. */
export function defaultRateLimits(surface: Surface): RateLimits {
  return {
    registerPerIp: { limit: surface === 'operator' ? 5 : 10, windowMs: 10 * minute },
    recoveryPerIp: { limit: 5, windowMs: 15 * minute },
    recoveryPerAddress: { limit: 3, windowMs: 60 * minute },
    confirmPerIp: { limit: 60, windowMs: 15 * minute },
    refreshPerIp: { limit: 600, windowMs: minute },
    refreshFamily: { limit: 60, windowMs: minute },
    oauthPerIp: { limit: 30, windowMs: minute },
    mfaPerIp: { limit: 300, windowMs: 5 * minute },
    mfaPerTicket: { limit: 10, windowMs: 5 * minute },
    mfaPerUser: { limit: 10, windowMs: 5 * minute },
    passwordChangePerUser: { limit: 5, windowMs: 60 * minute },
    addressChangePerUser: { limit: 5, windowMs: 60 * minute },
    grantPerIp: { limit: 60, windowMs: minute },
    jwksPerIp: { limit: 300, windowMs: minute },
    optionsPerIp: { limit: 300, windowMs: minute },
    logoutPerIp: { limit: 60, windowMs: minute },
    selfPerSession: { limit: 120, windowMs: minute },
    changePerSession: { limit: 20, windowMs: 15 * minute },
    endingPerSession: { limit: 60, windowMs: minute },
    mfaPerSession: { limit: 10, windowMs: 5 * minute },
    adminPerSession: { limit: 60, windowMs: minute },
  }
}

/** Limits whose hits are handed back where what they were counted for came to nothing. */
export const handedBackLimits = [
  'recoveryPerAddress',
  'passwordChangePerUser',
  'addressChangePerUser',
] as const satisfies readonly RateLimitName[]

export type HandedBackName = (typeof handedBackLimits)[number]

/**
 * Limits of frequent and harmless requests, whose hits may be counted in the process first. What is
 * handed back is never among them: a hit that the counter has not seen would be taken from another
 * process's.
 */
export const deferredLimits = [
  'refreshPerIp',
  'refreshFamily',
  'grantPerIp',
  'jwksPerIp',
  'optionsPerIp',
  'selfPerSession',
  'adminPerSession',
] as const satisfies readonly Exclude<RateLimitName, HandedBackName>[]

/** Any name of a counter but those that are counted in the process first. */
export type ExactName<Name extends string> = Name extends (typeof deferredLimits)[number]
  ? never
  : Name
