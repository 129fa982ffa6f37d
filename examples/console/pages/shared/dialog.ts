import { type Child, element } from './element.ts'

/** What a dialog holds; `close` ends it with a value. */
export type DialogBody<T> = (close: (value: T) => void) => Child

/**
 * Opens a modal dialog. Resolves with the value it was closed with; null where the user left it by Escape. The focus
 * goes back to where it was.
 */
export function openDialog<T>(title: string, body: DialogBody<T>): Promise<T | null> {
  const id = `dialog-${crypto.randomUUID()}`
  return new Promise((resolve) => {
    let result: T | null = null
    const close = (value: T) => {
      result = value
      dialog.close()
    }
    const dialog = element(
      'dialog',
      { 'aria-labelledby': id },
      element('h2', { id, tabindex: -1 }, title),
      body(close),
    )
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(result)
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}
