import {
  FieldBool,
  FieldDuration,
  FieldInt,
  FieldSelect,
} from '../engine/configuration/config-declaration.js'
import { type AuthField, day } from './auth-field.js'
import { breachCheckModes } from './choices.js'

const group = 'Password Policy'

export const passwordPolicyFields: readonly AuthField[] = [
  {
    key: 'passwordMinLength',
    label: 'Minimum length',
    type: FieldInt,
    default: '15',
    min: 8,
    max: 128,
    group,
    surface: 'both',
  },
  {
    key: 'passwordBreachCheck',
    label: 'Check passwords against known breaches',
    type: FieldSelect,
    // A library makes no outbound call unasked.
    default: 'off',
    options: breachCheckModes,
    group,
    surface: 'both',
  },
  {
    key: 'passwordBlockCommon',
    label: 'Block common passwords',
    type: FieldBool,
    default: 'true',
    group,
    surface: 'both',
  },
  {
    key: 'passwordBlockContextual',
    label: 'Block name/e-mail parts',
    type: FieldBool,
    default: 'true',
    group,
    surface: 'both',
  },
  {
    key: 'passwordHistoryCount',
    label: 'Remembered passwords',
    type: FieldInt,
    default: '5',
    min: 0,
    max: 24,
    group,
    surface: 'both',
  },
  {
    key: 'passwordMaxAge',
    label: 'Password expiry',
    type: FieldDuration,
    min: day,
    max: 730 * day,
    group,
    surface: 'both',
  },
]
