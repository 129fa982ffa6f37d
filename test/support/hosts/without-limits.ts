import type { RateLimits } from '../../../src/domain/limits/rate-limiter.js'
import type { HostOptions } from './hosts.js'

const never = { limit: 1_000_000, windowMs: 60_000 }

const rateLimits: RateLimits = {
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
  grantPerIp: never,
  jwksPerIp: never,
  optionsPerIp: never,
  logoutPerIp: never,
  selfPerSession: never,
  changePerSession: never,
  endingPerSession: never,
  mfaPerSession: never,
  adminPerSession: never,
}

/** For tests that send more requests than one person would. */
export const withoutLimits = {
  surfaces: {
    operator: { baseUrl: 'https://admin.example.com', rateLimits },
    client: { baseUrl: 'https://app.example.com', rateLimits },
  },
  settings: { loginRateOperator: 1000, loginRateClient: 1000 },
} as const satisfies HostOptions
