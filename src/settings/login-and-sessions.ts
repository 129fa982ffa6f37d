import {
  FieldBool,
  FieldDuration,
  FieldSelect,
} from '../engine/configuration/config-declaration.js'
import { type AuthField, day, hour, minute } from './auth-field.js'
import { sameSiteValues } from './choices.js'

const group = 'Login & Sessions'

export const loginAndSessionFields: readonly AuthField[] = [
  {
    key: 'passwordLoginOperatorEnabled',
    label: 'Operator password login',
    type: FieldBool,
    default: 'true',
    group,
    surface: 'operator',
  },
  {
    key: 'passwordLoginClientEnabled',
    label: 'Client password login',
    type: FieldBool,
    default: 'true',
    group,
    surface: 'client',
  },
  {
    key: 'accessTokenTTL',
    label: 'Access-token lifetime',
    type: FieldDuration,
    default: '15m',
    min: minute,
    // Longer values are accepted and act as this one.
    max: 24 * hour,
    // Asked whenever nothing is stored; the one variable that is not seeded.
    envVar: 'JWT_ACCESS_TOKEN_EXPIRY',
    group,
    surface: 'both',
  },
  {
    key: 'sessionAbsoluteTTL',
    label: 'Absolute session lifetime',
    type: FieldDuration,
    default: '720h',
    min: hour,
    // Below the 90 days a session document is kept: the cap can always be judged.
    max: 89 * day,
    group,
    surface: 'both',
  },
  {
    key: 'refreshReuseGrace',
    label: 'Refresh reuse grace',
    type: FieldDuration,
    default: '10s',
    min: 0,
    max: minute,
    group,
    surface: 'both',
  },
  {
    key: 'cookieSameSite',
    label: 'Cookie SameSite',
    type: FieldSelect,
    default: 'lax',
    options: sameSiteValues,
    group,
    surface: 'both',
  },
]
