import { type Field, field } from './field.ts'

/** The input for a code of an authenticator app. */
export function codeField(): Field {
  return field({
    name: 'code',
    label: 'Code of your authenticator app',
    attributes: { required: true, inputmode: 'numeric', autocomplete: 'one-time-code' },
  })
}

/** The input for a code of the list that was shown once. */
export function backupCodeField(): Field {
  return field({
    name: 'code',
    label: 'Backup code',
    hint: 'Each one works once.',
    attributes: { required: true, autocomplete: 'off', autocapitalize: 'characters' },
  })
}

/** What was typed, without the blanks that people put between digits. */
export function codeOf({ input }: Field): string {
  return input.value.replaceAll(/\s/g, '')
}
