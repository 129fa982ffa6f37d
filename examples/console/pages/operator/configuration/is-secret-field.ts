import { FieldSecret, type FieldType } from 'postern/config'

/** Whether the API never shows the value of a field or sub-field. */
export function isSecretField(declaration: {
  readonly type: FieldType
  readonly secret?: boolean
}): boolean {
  return declaration.type === FieldSecret || declaration.secret === true
}
