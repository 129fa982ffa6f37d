/** Times as one language writes them. */
export interface WrittenTimes {
  time(at: number): string
  timeUntil(at: number): string
}

const minuteMs = 60_000

/** Throws `RangeError` for a language or a time zone that `Intl` does not know. */
export function writtenTimes(locale: string, timeZone: string, now: () => number): WrittenTimes {
  const moments = new Intl.DateTimeFormat(locale, {
    timeZone,
    ...{ year: 'numeric', month: 'long', day: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' },
  })
  const spans = (unit: 'minute' | 'hour') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' })
  const [minutes, hours] = [spans('minute'), spans('hour')]
  return {
    time: (at) => moments.format(at),
    timeUntil(at) {
      // A link is mailed within the minute that it was made in, and keeps its round number.
      const left = Math.max(1, Math.round((at - now()) / minuteMs))
      const isHours = left % 60 === 0 || left >= 120
      return isHours ? hours.format(Math.floor(left / 60)) : minutes.format(left)
    },
  }
}
