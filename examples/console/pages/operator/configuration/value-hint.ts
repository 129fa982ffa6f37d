import {
  FieldBool,
  FieldDuration,
  FieldInt,
  FieldSelect,
  formatDuration,
  parseDuration,
} from 'postern/config'
import type { Field, SubField } from './module-types.ts'

/** What a value has to be like, from its declaration: `1h to 89d`. Empty where anything goes. */
export function valueHint({ type, min, max }: Field | SubField): string {
  if (type === FieldBool || type === FieldSelect) return ''
  if (type === FieldDuration)
    return range(min, max, formatDuration, 'A duration, such as 15m or 1d')
  if (type === FieldInt) return range(min, max, String, 'A whole number')
  if (min !== undefined && min === max) return `${max} characters`
  return range(min === 0 ? undefined : min, max, String, '', ' characters')
}

function range(
  min: number | undefined,
  max: number | undefined,
  show: (value: number) => string,
  what: string,
  unit = '',
): string {
  const from = min === undefined ? '' : show(min)
  const to = max === undefined ? '' : show(max)
  const bounds = from && to ? `${from} to ${to}` : from ? `at least ${from}` : to && `at most ${to}`
  return [what, bounds && `${bounds}${unit}`].filter(Boolean).join(', ')
}

/** `at most 5` as a sentence. */
export function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`
}

/** A duration in its largest units, where that says more than the text: `30d` for `720h`, else empty. */
export function durationInWords(text: string): string {
  const ms = parseDuration(text)
  if (ms === null) return ''
  const words = formatDuration(ms)
  return words === text ? '' : `= ${words}`
}
