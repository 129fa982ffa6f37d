import { actionButton } from '../../shared/action-button.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import { type Child, element } from '../../shared/element.ts'
import { table } from '../../shared/table.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { moduleOf } from './module-of.ts'
import type { Module } from './module-types.ts'

/** The environments of a module: which one is active, and what leads to their settings and their history. */
export const modulePage: OperatorPage = {
  path: '/configuration/:module',
  title: 'Environments',
  audience: 'user',
  async render(main, context) {
    const module = await moduleOf(context, context.params['module'] ?? '')
    main.append(
      element(
        'p',
        { class: 'crumbs' },
        element('a', { href: '/configuration' }, 'Configuration'),
        ' › ',
        element('strong', {}, module.name),
      ),
    )
    if (module.needsRestart) main.append(restartNotice())
    main.append(
      element(
        'section',
        {},
        element(
          'p',
          {},
          `${module.fields.length} settings in each environment. One environment is active.`,
        ),
        table({
          caption: `Environments of ${module.name}`,
          heads: ['Environment', 'State', 'Revision', 'Actions'],
          rows: module.environments.map((one) => environmentRow(context, module, one)),
          none: 'There are no environments.',
        }),
      ),
    )
  },
}

function restartNotice(): HTMLElement {
  return element(
    'p',
    { class: 'notice' },
    'A restart is needed: the active environment was switched, and at least one process has run since before that. ',
    'Values are read anew within 30 seconds; what a process made of them at its start is not.',
  )
}

function environmentRow(
  context: OperatorContext,
  module: Module,
  { name, active, revision }: Module['environments'][number],
): readonly Child[] {
  const own = `/configuration/${encodeURIComponent(module.name)}/${encodeURIComponent(name)}`
  return [
    element('a', { href: own }, name),
    active ? element('span', { class: 'tag active' }, 'Active') : 'Not active',
    String(revision),
    element(
      'div',
      { class: 'buttons' },
      element('a', { href: `${own}/history`, 'aria-label': `History of ${name}` }, 'History'),
      !active && activation(context, module.name, name),
    ),
  ]
}

function activation(context: OperatorContext, module: string, environment: string): HTMLElement {
  return actionButton({
    label: `Activate ${environment}`,
    attributes: { class: 'small' },
    run: async () => {
      const isSure = await isConfirmed({
        title: `Activate ${environment}?`,
        text: `Its values of ${module} are in force within 30 seconds, in every process.`,
        action: 'Activate',
      })
      if (!isSure) return
      await context.operator.call('PUT /v1/admin/modules/{name}/active-environment', {
        name: module,
        environment,
      })
      context.reload()
      context.announce(`${environment} is active now.`)
    },
  })
}
