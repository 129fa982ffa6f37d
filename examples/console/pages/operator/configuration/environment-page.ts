import { actionButton } from '../../shared/action-button.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import { element } from '../../shared/element.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { copiedEdits } from './copied-edits.ts'
import { createDraft, type Draft } from './draft.ts'
import { type ErrorPlaces, errorPlaces } from './editor.ts'
import { nameOf, textsOf } from './environment-texts.ts'
import { moduleOf } from './module-of.ts'
import type { Environment, Module } from './module-types.ts'
import { type SaveBar, saveBar } from './save-bar.ts'
import { saveEnvironment } from './save-environment.ts'
import { groupTools, settingGroups } from './setting-groups.ts'

/** The settings of one environment, to be edited. */
export const environmentPage: OperatorPage = {
  path: '/configuration/:module/:environment',
  title: 'Settings',
  audience: 'user',
  async render(main, context) {
    const path = { name: context.params['module'] ?? '', env: context.params['environment'] ?? '' }
    const [module, environment] = await Promise.all([
      moduleOf(context, path.name),
      context.operator.call('GET /v1/admin/modules/{name}/environments/{env}', path, context),
    ])
    const groups = element('div', { class: 'groups' })
    const state: EditedPage = {
      module,
      groups,
      draft: createDraft(environment),
      places: errorPlaces(),
    }
    const bar = saveBar({
      onSave: () => save(context, state, bar),
      onDiscard: () => {
        show(state, bar, createDraft(state.draft.base))
        bar.tell('Your changes are gone.')
      },
    })
    show(state, bar, state.draft)
    main.append(
      crumbs(module, environment),
      facts(environment),
      copying(context, state, bar),
      groupTools(groups),
      groups,
      bar.bar,
    )
    holdUnsaved(context, state)
  },
}

interface EditedPage {
  readonly module: Module
  readonly groups: HTMLElement
  draft: Draft
  places: ErrorPlaces
}

/** Draws every setting of a draft. */
function show(state: EditedPage, bar: SaveBar, draft: Draft): void {
  const { module, groups } = state
  state.draft = draft
  state.places = errorPlaces()
  const changed = () => {
    const texts = new Map([...textsOf(draft.base), ...draft.edits().texts])
    bar.show(draft.changes().map((key) => nameOf(module, texts, key)))
  }
  groups.replaceChildren(...settingGroups({ module, draft, places: state.places, changed }))
  changed()
}

async function save(context: OperatorContext, state: EditedPage, bar: SaveBar): Promise<void> {
  const { module, draft, places } = state
  places.clear()
  const edits = { module, draft, places, changed: () => undefined }
  const result = await held(state, () => saveEnvironment(context, edits))
  if (result.kind === 'saved') {
    show(state, bar, result.draft)
    bar.tell(`Saved as revision ${result.draft.base.revision}.`)
  } else if (result.kind === 'rebased') {
    show(state, bar, result.draft)
    const isLeft = result.draft.changes().length > 0
    bar.tell(`${result.text} ${isLeft ? 'Your changes stand on top of it: save again.' : ''}`)
  } else if (result.kind === 'refused') {
    const { key, text } = result
    const isShown = key !== null && places.show(key, withoutKey(text, key))
    bar.fail(isShown ? 'One value was refused: see above.' : result.text)
  }
}

/** Lets no setting be changed during the work: its reply draws them again, and what was typed would be lost. */
async function held<T>({ groups }: EditedPage, work: () => Promise<T>): Promise<T> {
  groups.inert = true
  try {
    return await work()
  } finally {
    groups.inert = false
  }
}

/** The sentence for a place that says already what it is about. */
function withoutKey(text: string, key: string): string {
  return text.startsWith(`"${key}" `) ? `This ${text.slice(key.length + 3)}` : text
}

function crumbs(module: Module, { environment }: Environment): HTMLElement {
  const own = `/configuration/${encodeURIComponent(module.name)}`
  return element(
    'p',
    { class: 'crumbs' },
    element('a', { href: '/configuration' }, 'Configuration'),
    ' › ',
    element('a', { href: own }, module.name),
    ' › ',
    element('strong', {}, environment),
    ' · ',
    element('a', { href: `${own}/${encodeURIComponent(environment)}/history` }, 'History'),
  )
}

function facts({ active }: Environment): HTMLElement {
  return element(
    'p',
    { class: active ? 'notice' : 'notice quiet' },
    active
      ? 'This environment is active: what you save is in force within 30 seconds.'
      : 'This environment is not active: what you save has no effect until it is.',
  )
}

/** Brings the values of another environment here, as changes that are not saved. */
function copying(context: OperatorContext, state: EditedPage, bar: SaveBar): HTMLElement | string {
  const { module } = state
  const others = module.environments.filter(({ name }) => name !== state.draft.base.environment)
  if (others.length === 0) return ''
  return element(
    'div',
    { class: 'buttons' },
    others.map(({ name }) =>
      actionButton({
        label: `Copy the values of ${name}`,
        run: async () => {
          const path = { name: module.name, env: name }
          const other = await held(state, () =>
            context.operator.call('GET /v1/admin/modules/{name}/environments/{env}', path, context),
          )
          const { base } = state.draft
          show(state, bar, createDraft(base, copiedEdits(base, other)))
          const secrets = other.secretsSet.length
          const left = secrets === 0 ? '' : ' Secrets are not copied: enter them here.'
          bar.tell(`${changesText(state.draft)} as in ${name}, to be saved.${left}`)
        },
      }),
    ),
  )
}

function changesText(draft: Draft): string {
  const count = draft.changes().length
  return count === 1 ? '1 value is now' : `${count} values are now`
}

/** Asks before unsaved changes are lost. */
function holdUnsaved({ signal, go }: OperatorContext, state: EditedPage): void {
  const isUnsaved = () => state.draft.changes().length > 0
  const onUnload = (event: Event) => {
    if (isUnsaved()) event.preventDefault()
  }
  const onClick = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isElsewhere = event.metaKey || event.ctrlKey || event.shiftKey
    if (link === null || !isUnsaved() || isElsewhere || link.origin !== location.origin) return
    if (link.pathname === location.pathname) return
    event.preventDefault()
    const question = {
      title: 'Leave without saving?',
      text: 'Your changes of this environment are lost.',
      action: 'Leave',
    }
    isConfirmed(question).then((isSure) => {
      if (isSure) go(link.pathname)
    }, reportError)
  }
  addEventListener('beforeunload', onUnload, { signal })
  document.addEventListener('click', onClick, { signal, capture: true })
}
