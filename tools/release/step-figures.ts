type Lines = readonly string[]

/** What the lines that a step printed say of it, in words; nothing where they say too little. */
export type Figures = (lines: Lines) => readonly string[]

const whole = (count: number | string): string => Number(count).toLocaleString('en')

/** Of each line that has this form, what the groups of the form took. */
const found = (lines: Lines, form: RegExp): readonly (readonly string[])[] =>
  lines.flatMap((line) => {
    const [first, ...groups] = form.exec(line) ?? []
    return first === undefined ? [] : [groups]
  })

const numbers = (lines: Lines, form: RegExp): readonly number[] =>
  found(lines, form).map(([count]) => Number(count))

const audit: Figures = (lines) =>
  numbers(lines, /^found (\d+) vulnerabilit(?:y|ies)$/).map((count) => `${count} known weaknesses`)

const sbom: Figures = (lines) =>
  numbers(lines, /^\S+\.json: (\d+) packages$/).map((count) => `${count} packages`)

/** By attw for each entry, and by publint for all of them. */
const packed: Figures = (lines) => {
  const entries = lines.filter((line) => /^"postern\S*"$/.test(line))
  if (entries.length === 0 || !lines.includes('All good!')) return []
  return [`${entries.length} entries are found as they should be`]
}

const runtimeNames: Readonly<Record<string, string>> = { bun: 'Bun', deno: 'Deno' }

const runtimes: Figures = (lines) =>
  found(
    lines,
    /^node_modules\/(?:\.bin|node\d+\/bin)\/(\w+) (?:deno )?v?([\d.]+).*: registered, .*signed out$/,
  ).map(([name = '', version]) => `${runtimeNames[name] ?? 'Node'} ${version}`)

const model: Figures = (lines) => {
  const firstOf = lines.flatMap((line, at) => (/^\w+: in every state$/.test(line) ? [at] : []))
  const models = firstOf.map((first, at) => lines.slice(first, firstOf[at + 1]))
  const parts = models.map((own) => {
    const planted = own.findIndex((line) => /: wrong on purpose\b/.test(line))
    return { searched: own.slice(0, planted), planted: own.slice(planted) }
  })
  const search = /^ok {3}.*: (\d+) states, [\d.]+ s, \d+ MB$/
  const searched = parts.flatMap((part) => numbers(part.searched, search))
  const planted = parts.flatMap((part) => numbers(part.planted, search))
  if (searched.length === 0) return []
  const states = searched.reduce((sum, count) => sum + count, 0)
  return [
    `${models.length} models, ${searched.length} scenarios`,
    `${whole(states)} states in all`,
    `${planted.length} planted faults refuted`,
  ]
}

/** Everything there is, and then the ledger of what it shows. */
const everything: Figures = (lines) => [
  ...found(lines, /^([1-9]\d*) passed, 0 failed, (\d+) skipped$/).map(
    ([passed = '', skipped]) => `${whole(passed)} tests passed, ${skipped} skipped`,
  ),
  ...found(lines, /^(\d+) rows: \1 have a test, and passed/).map(
    ([rows]) => `${rows} rows of the ledger shown`,
  ),
]

/** As Vitest counts them. Nothing where a server was missing, whose suites say so in their titles. */
const conformance: Figures = (lines) =>
  lines.some((line) => /not found\)/.test(line))
    ? []
    : found(lines, /^ *Tests {2}(\d+) passed(?: \| (\d+) skipped)?/).map(
        ([passed = '', skipped]) =>
          `${whole(passed)} tests of the stores passed${skipped === undefined ? '' : `, ${skipped} skipped`}`,
      )

const malformed: Figures = (lines) =>
  found(
    lines,
    /^(\w+): (\d+) requests, (\d+) % read by a parser, replies \{.*\}, heap (-?[\d.]+) %$/,
  ).map(
    ([framework, requests = '', parsed, heap]) =>
      `${framework}: ${whole(requests)} requests, ${parsed} % of them read by a parser, heap ${Number(heap) < 0 ? '' : '+'}${heap} %`,
  )

const fuzz: Figures = (lines) => {
  const parsers = found(lines, /^(\d+) of (\d+) were taken for /)
  if (parsers.length === 0) return []
  const inputs = Math.min(...parsers.map(([, runs]) => Number(runs)))
  const shares = parsers.map(([taken, runs]) => (100 * Number(taken)) / Number(runs))
  return [
    `${parsers.length} parsers, ${whole(inputs)} inputs each`,
    `${Math.min(...shares).toFixed(1)} % of them or more were taken, and all of these are safe`,
  ]
}

const tabs: Figures = (lines) =>
  found(lines, /^seed \d+: (\d+) rotations, (\d+) actions failed$/).flatMap(
    ([rotations, failed]) => [`${rotations} rotations`, `${failed} actions failed`],
  )

const simulation: Figures = (lines) => {
  const [[steps, seed, rate] = []] = found(
    lines,
    /^(\d+) steps from seed (\d+) on, (\d+) a second$/,
  )
  const premises = numbers(lines, /^\w+: (\d+) premises$/)
  if (steps === undefined || rate === undefined || premises.length === 0) return []
  return [
    `${whole(steps)} steps, ${whole(rate)} a second, with the seeds from ${seed} on`,
    `${premises.length} rules held, each judged ${whole(Math.min(...premises))} times or more`,
  ]
}

const planted: Figures = (lines) =>
  found(lines, /^(\d+) of (\d+) plants were caught$/).map(
    ([caught, all]) => `${caught} of ${all} mistakes were caught`,
  )

const protocols: Figures = (lines) => {
  const mistakes = found(lines, /^ok {3}.*: (\d+) of (\d+) seeds, median (\d+) steps, most (\d+)$/)
  if (mistakes.length === 0) return []
  const most = (at: number): string => whole(Math.max(...mistakes.map((one) => Number(one[at]))))
  const least = Math.min(...mistakes.map(([shown]) => Number(shown)))
  return [
    `${mistakes.length} mistakes, each shown by ${least} of ${mistakes[0]?.[1]} seeds`,
    `after ${most(2)} steps in the median of the slowest, and ${most(3)} at most`,
  ]
}

const mutation: Figures = (lines) =>
  found(lines, /^(src\/\w+): ([\d.]+) %, (\d+) of (\d+) noticed, ([\d.]+) % of them /).map(
    ([folder, percent, noticed = '', all = '', timedOut]) =>
      `\`${folder}\`: ${percent} %, ${whole(noticed)} of ${whole(all)} noticed, ${timedOut} % of these by a time-out`,
  )

/** Suites that run on several versions of Node are named once for each. */
const bench: Figures = (lines) => {
  const runs = found(lines, /^(\d+ of \d+) limits are met$/).flat()
  const suites = new Set(found(lines, /^# (.+)$/).flat()).size
  if (runs.length === 0 || suites === 0) return []
  return [
    `${suites} suites${runs.length === 1 ? '' : ` on ${runs.length} versions of Node`}`,
    `limits met: ${runs.join(', ')}`,
  ]
}

const reliability: Figures = (lines) =>
  numbers(lines, /^docs\/reliability\.md: (\d+) of \d+ figures measured$/).map(
    (count) => `${count} figures`,
  )

/** By the name of the step. */
export const stepFigures = {
  ...{
    audit,
    sbom,
    package: packed,
    everything,
    runtimes,
    model,
    conformance,
    malformed,
    fuzz,
    tabs,
    simulation,
  },
  ...{
    planted,
    protocols,
    cryptography: mutation,
    rules: mutation,
    bench,
    nodes: bench,
    reliability,
  },
} satisfies Readonly<Record<string, Figures>>
