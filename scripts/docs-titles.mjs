// A plugin of typedoc: guides are listed by the titles that they begin with. Their addresses stay those of their files, because
// they are settled before pages are written.
import { ReflectionKind, RendererEvent } from 'typedoc'

/** Gives every guide the title that its text begins with, in the navigation, in the search and in the title of its page. */
export function load({ renderer }) {
  renderer.on(RendererEvent.BEGIN, ({ project }) => {
    for (const guide of project.getReflectionsByKind(ReflectionKind.Document)) {
      const text = guide.content.map((part) => part.text).join('')
      const [, title] = /^# (.+)$/m.exec(text) ?? []
      if (title === undefined) throw new Error(`docs/${guide.name}.md does not begin with a title`)
      guide.name = title
    }
  })
}
