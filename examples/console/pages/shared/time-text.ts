const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

/** A time of the API (ISO 8601) as people read it, in their own time zone; "never" for null. */
export function timeText(time: string | null): string {
  return time === null ? 'never' : format.format(new Date(time))
}
