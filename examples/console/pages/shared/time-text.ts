const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en', { timeStyle: 'short' })

/** A time of the API (ISO 8601) as people read it, in their own time zone; "never" for null. */
export function timeText(time: string | null): string {
  if (time === null) return 'never'
  const at = new Date(time)
  // A line breaks between the two alone.
  const [date, hour] = [dates, clock].map((format) => format.format(at).replaceAll(' ', '\u00a0'))
  return `${date}, ${hour}`
}
