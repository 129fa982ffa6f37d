import { FieldBool, FieldInt, FieldSelect } from '../engine/configuration/config-declaration.js'
import type { AuthField } from './auth-field.js'
import { deletionModes } from './choices.js'

const group = 'Sessions & Account'

export const sessionAndAccountFields: readonly AuthField[] = [
  {
    key: 'maxConcurrentSessions',
    label: 'Sessions per user',
    type: FieldInt,
    default: '0',
    min: 0,
    max: 100,
    group,
    surface: 'both',
  },
  {
    key: 'revokeSessionsOnPasswordChange',
    label: 'End other sessions on password change',
    type: FieldBool,
    default: 'true',
    group,
    surface: 'both',
  },
  {
    key: 'accountDeletionMode',
    label: 'Self-deletion',
    type: FieldSelect,
    default: 'client',
    options: deletionModes,
    group,
    surface: 'both',
  },
]
