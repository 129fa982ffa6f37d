import {
  FieldBool,
  type FieldDeclaration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
} from '../../../src/engine/configuration/config-declaration.js'
import type { EnvironmentState } from '../../../src/engine/configuration/config-patch.js'

const group = 'Mail'

/** A host's own module, with all that a patch can touch. */
export const mailFields: readonly FieldDeclaration[] = deepFreeze([
  { key: 'sender', label: 'Sender', type: FieldString, group },
  { key: 'apiKey', label: 'API key', type: FieldSecret, group },
  { key: 'retries', label: 'Retries', type: FieldInt, group, default: '3', min: 0, max: 10 },
  {
    key: 'hooks',
    label: 'Hooks',
    type: FieldRecordList,
    group,
    items: [
      { key: 'url', label: 'URL', type: FieldString, required: true },
      { key: 'kind', label: 'Kind', type: FieldSelect, options: ['open', 'signed'] },
      {
        key: 'token',
        label: 'Token',
        type: FieldSecret,
        required: true,
        condition: { field: 'kind', equals: 'signed' },
      },
      { key: 'active', label: 'Active', type: FieldBool },
    ],
  },
  {
    key: 'regions',
    label: 'Regions',
    type: FieldRecordList,
    group,
    max: 3,
    items: [{ key: 'host', label: 'Host', type: FieldString }],
  },
])

/** Freezes what it is given, all the way down: a change throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member)
    Object.freeze(value)
  }
  return value
}

export function environment(
  values: Readonly<Record<string, string>>,
  revision = 7,
): EnvironmentState {
  return deepFreeze({ revision, values: { ...values } })
}
