import { type Child, element } from '../../shared/element.ts'
import { table } from '../../shared/table.ts'
import { timeText } from '../../shared/time-text.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { nameOf } from './environment-texts.ts'
import { moduleOf } from './module-of.ts'
import type { Module, Revision } from './module-types.ts'
import { type ChangedText, revisionChanges } from './revision-changes.ts'

/** The last fifty revisions of an environment, each with what it changed. */
export const historyPage: OperatorPage = {
  path: '/configuration/:module/:environment/history',
  title: 'History',
  audience: 'user',
  async render(main, context) {
    const { operator, params } = context
    const path = { name: params['module'] ?? '', env: params['environment'] ?? '' }
    const [module, { items }] = await Promise.all([
      moduleOf(context, path.name),
      operator.call('GET /v1/admin/modules/{name}/environments/{env}/revisions', path, context),
    ])
    const own = `/configuration/${encodeURIComponent(path.name)}`
    main.append(
      element(
        'p',
        { class: 'crumbs' },
        element('a', { href: '/configuration' }, 'Configuration'),
        ' › ',
        element('a', { href: own }, path.name),
        ' › ',
        element('a', { href: `${own}/${encodeURIComponent(path.env)}` }, path.env),
      ),
      ...items.map((revision, at) =>
        revisionSection(context, module, { revision, before: items[at + 1] ?? null }),
      ),
    )
  },
}

interface Shown {
  readonly revision: Revision
  readonly before: Revision | null
}

function revisionSection(
  context: OperatorContext,
  module: Module,
  { revision, before }: Shown,
): HTMLElement {
  const changes = revisionChanges(module, revision, before)
  const id = `revision-${revision.revision}`
  const writer = element(
    'p',
    { class: 'soft' },
    `${timeText(revision.writtenAt)}, by `,
    writerOf(context, revision),
  )
  const heading = element('h2', { id }, `Revision ${revision.revision}`)
  const labels = new Map([
    ...Object.entries(before?.config ?? {}),
    ...Object.entries(revision.config),
  ])
  return element(
    'section',
    { 'aria-labelledby': id, class: 'difference' },
    heading,
    writer,
    table({
      caption: `What revision ${revision.revision} changed`,
      heads: ['Setting', 'Before', 'After'],
      rows: changes.map((change) => changeCells(nameOf(module, labels, change.key), change)),
      none: 'No value has changed.',
    }),
  )
}

function writerOf({ client }: OperatorContext, { writtenBy }: Revision): HTMLElement | string {
  const state = client.get()
  if (writtenBy === null) return 'the library'
  if (state.status === 'signedIn' && state.user.id === writtenBy) return 'you'
  return element('code', {}, writtenBy)
}

function changeCells(
  name: string,
  { key, isSecret, before, after }: ChangedText,
): readonly Child[] {
  const setting = [name, element('br'), element('code', {}, key)]
  if (isSecret) return [setting, 'a secret', 'set, replaced or cleared']
  return [
    setting,
    before === null ? '–' : element('del', {}, before || 'empty'),
    after === null ? '–' : element('ins', {}, after || 'empty'),
  ]
}
