import { type Child, element, svgElement } from '../../shared/element.ts'
import { niceTop } from './plot-scale.ts'

/** One line of a plot: a value for each of its times; null where there is none. */
export interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
}

export interface PlotOptions {
  readonly title: string
  /** What the values are counted in, such as `ms`. It stands above their axis. */
  readonly unit: string
  /** A sentence below the title. */
  readonly hint: string
  /** Epoch milliseconds, evenly spaced, oldest first. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
}

const size = { width: 400, height: 196, left: 60, right: 8, top: 36, bottom: 28 }
const clockFormat = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const numberFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** A plot of lines, with a legend, and the same figures as a table for those who cannot see it. */
export function plot(options: PlotOptions): HTMLElement {
  const { title, unit, hint, times, series } = options
  const id = `plot-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
  const name = `${title} (${unit})`
  return element(
    'section',
    { 'aria-labelledby': id, class: 'plot' },
    element('h2', { id }, title),
    element('p', { class: 'hint' }, hint),
    element(
      'ul',
      { class: 'legend' },
      series.map(({ name }, index) =>
        element(
          'li',
          {},
          element('span', { class: `mark line-${index}`, 'aria-hidden': 'true' }),
          name,
        ),
      ),
    ),
    drawing(name, options),
    element(
      'details',
      {},
      element('summary', {}, 'The same as a table'),
      figures(name, times, series),
    ),
  )
}

function drawing(name: string, { unit, times, series }: PlotOptions): SVGSVGElement {
  const { width, height, left, right, top, bottom } = size
  const highest = niceTop(
    Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))),
  )
  const x = (index: number) =>
    left + ((width - left - right) * index) / Math.max(1, times.length - 1)
  const y = (value: number) => height - bottom - ((height - top - bottom) * value) / highest
  const lines = [0, highest / 2, highest].map((value) => [
    svgElement('line', { class: 'grid', x1: left, x2: width - right, y1: y(value), y2: y(value) }),
    svgElement(
      'text',
      { x: left - 6, y: y(value) + 5, 'text-anchor': 'end' },
      numberFormat.format(value),
    ),
  ])
  const last = times.length - 1
  const marks = [0, Math.round(last / 2), last]
    .filter((index, at, all) => all.indexOf(index) === at)
    .map((index) => {
      const anchor = index === 0 ? 'start' : index === last ? 'end' : 'middle'
      return svgElement(
        'text',
        { x: x(index), y: height - 8, 'text-anchor': anchor },
        timeOf(times[index]),
      )
    })
  const paths = series.map(({ values }, index) => linePaths(values, { x, y, index }))
  return svgElement(
    'svg',
    {
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `${name}. The table below has the figures.`,
    },
    svgElement('text', { x: 0, y: 17 }, unit),
    lines,
    marks,
    paths,
  )
}

interface Scales {
  readonly x: (index: number) => number
  readonly y: (value: number) => number
  /** Which line of the plot it is. */
  readonly index: number
}

/** A line for each stretch of values, and a dot for a value that stands alone. */
function linePaths(values: readonly (number | null)[], { x, y, index }: Scales): Child {
  const stretches: string[][] = [[]]
  for (const [at, value] of values.entries()) {
    if (value === null) stretches.push([])
    else stretches.at(-1)?.push(`${x(at).toFixed(1)},${y(value).toFixed(1)}`)
  }
  return stretches.map((points): Child => {
    const [only = '', ...others] = points
    if (points.length === 0) return null
    if (others.length > 0) {
      return svgElement('polyline', { class: `line line-${index}`, points: points.join(' ') })
    }
    const [cx = 0, cy = 0] = only.split(',')
    return svgElement('circle', { class: `dot line-${index}`, cx, cy, r: 3 })
  })
}

function timeOf(time: number | undefined): string {
  return time === undefined ? '' : clockFormat.format(time)
}

function figures(name: string, times: readonly number[], series: readonly Series[]): HTMLElement {
  const head = ['Minute', ...series.map((one) => one.name)]
  const rows = times.map((time, index) => {
    const cells = series.map(({ values }) => {
      const value = values[index] ?? null
      return element('td', {}, value === null ? '–' : numberFormat.format(value))
    })
    return element('tr', {}, element('th', { scope: 'row' }, timeOf(time)), cells)
  })
  return element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Figures of ${name}` },
    element(
      'table',
      {},
      element('caption', {}, name),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          head.map((text) => element('th', { scope: 'col' }, text)),
        ),
      ),
      element('tbody', {}, rows.reverse()),
    ),
  )
}
