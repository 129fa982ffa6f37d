import {
  FieldBool,
  FieldDuration,
  FieldRecordList,
  FieldSelect,
  FieldString,
} from '../engine/configuration/config-declaration.js'
import { type AuthField, day, minute } from './auth-field.js'
import { anySurface } from './choices.js'

const group = 'Registration'

export const registrationFields: readonly AuthField[] = [
  {
    key: 'registrationOperatorEnabled',
    label: 'Allow operator registration',
    type: FieldBool,
    default: 'false',
    group,
    surface: 'operator',
  },
  {
    key: 'registrationClientEnabled',
    label: 'Allow client registration',
    type: FieldBool,
    default: 'true',
    group,
    surface: 'client',
  },
  {
    key: 'registrationAllowedDomains',
    label: 'Allowed e-mail domains',
    type: FieldRecordList,
    max: 50,
    group,
    surface: 'both',
    items: [
      { key: 'domain', label: 'Domain', type: FieldString, required: true, max: 253 },
      {
        key: 'surface',
        label: 'Surface',
        type: FieldSelect,
        required: true,
        options: anySurface,
      },
      { key: 'includeSubdomains', label: 'Include subdomains', type: FieldBool },
    ],
  },
  {
    key: 'registrationTermsVersion',
    label: 'Required terms version',
    type: FieldString,
    max: 64,
    group,
    surface: 'both',
  },
  {
    key: 'emailVerificationRequired',
    label: 'Require verified e-mail',
    type: FieldBool,
    default: 'true',
    group,
    surface: 'both',
  },
  {
    key: 'emailVerificationTTL',
    label: 'Verification link lifetime',
    type: FieldDuration,
    default: '24h',
    min: 15 * minute,
    max: 7 * day,
    group,
    surface: 'both',
  },
]
