// The cost of the configuration rules on a full record list, against bare loops over the same keys.
import { Bench } from 'tinybench'
import { it } from 'vitest'
import { checkValues } from '../src/engine/configuration/check-values.js'
import {
  type FieldDeclaration,
  FieldRecordList,
  FieldString,
} from '../src/engine/configuration/config-declaration.js'
import { planPatch } from '../src/engine/configuration/config-patch.js'
import { readRecordList } from '../src/engine/configuration/record-list.js'
import { report } from './report.js'

const subFields = ['url', 'user', 'region', 'path', 'note', 'contact']
const list: FieldDeclaration = {
  key: 'hooks',
  label: 'Hooks',
  type: FieldRecordList,
  group: 'Hooks',
  items: subFields.map((key) => ({ key, label: key, type: FieldString, required: true, max: 200 })),
}
const slugs = Array.from({ length: 50 }, (_, index) => `hook-${index}`)
const values: Readonly<Record<string, string>> = Object.fromEntries([
  ['hooks.__items', slugs.join(',')],
  ...slugs.flatMap((slug) => [
    [`hooks.${slug}.__label`, `Hook ${slug}`],
    ...subFields.map((key) => [`hooks.${slug}.${key}`, `value of ${key} in ${slug}`]),
  ]),
])
const config = Object.fromEntries(
  slugs.flatMap((slug) =>
    subFields.map((key) => [`hooks.${slug}.${key}`, `new ${key} of ${slug}`]),
  ),
)

/** The three steps without a rule: each makes, reads or writes the same keys that the rules do. */
function bareLoop(): number {
  const elements = (values['hooks.__items'] ?? '').split(',').map((slug) => {
    const element: Record<string, string> = { slug, label: values[`hooks.${slug}.__label`] ?? '' }
    for (const name of subFields) element[name] = values[`hooks.${slug}.${name}`] ?? ''
    return element
  })
  const next: Record<string, string> = { ...values }
  for (const [key, text] of Object.entries(config)) next[key] = text
  for (const slug of slugs) {
    for (const name of subFields) {
      const text = next[`hooks.${slug}.${name}`] ?? ''
      if (text === '' || text.length > 200 || /\p{Cc}/u.test(text)) throw new Error('not allowed')
    }
  }
  return Object.keys(next).length + elements.length
}

function rules(): number {
  const elements = readRecordList(list, values)
  const plan = planPatch({ revision: 1, values }, { config, revision: 1 }, [list])
  if (plan.kind === 'refused') throw new Error(plan.refusal.message)
  const error = checkValues({ module: 'bench', declarations: [list], before: values, ...plan })
  if (error !== null) throw error
  return Object.keys(plan.values).length + elements.length
}

it('reading, patching and checking a record list (50 elements of 6 sub-fields)', async () => {
  if (bareLoop() !== rules()) throw new Error('they do not do the same')
  const bench = new Bench({ time: 1500 })
  bench.add('bare loops over the same keys', () => {
    bareLoop()
  })
  bench.add('read, plan and check', () => {
    rules()
  })
  await bench.run()
  report(bench)
}, 60_000)
