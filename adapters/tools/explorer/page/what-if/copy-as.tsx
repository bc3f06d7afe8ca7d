import { useState } from 'preact/hooks'
import { controllerUrl } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { useApis } from '../session/session.ts'
import { type Change, curlOf, isWhole } from './change.ts'

/** The changes as text, to be made in another way: in a model file, or from a shell. */
export function CopyAs({ changes }: { changes: readonly Change[] }) {
  const apis = useApis()
  const [text, setText] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const whole = changes.filter(isWhole)
  const showModel = async () => {
    setProblem(undefined)
    try {
      // Few readers ask for it: it is no part of what every page loads.
      const { modelFileOf } = await import('./model-file.ts')
      setText(await modelFileOf(apis.management, whole))
    } catch (error) {
      setProblem(problemText(error))
    }
  }
  const showCommands = () => setText(whole.map((change) => curlOf(change, controllerUrl())).join('\n'))
  return (
    <>
      <button type="button" disabled={whole.length === 0} onClick={showModel}>
        As model file
      </button>
      <button type="button" disabled={whole.length === 0} onClick={showCommands}>
        As curl
      </button>
      {problem && <p class="problem">{problem}</p>}
      {text !== undefined && (
        <div class="copied stack">
          <textarea
            class="code"
            aria-label="Text to copy"
            readOnly
            rows={Math.min(24, text.split('\n').length + 1)}
            value={text}
          />
          <CopyButton text={text} />
        </div>
      )}
    </>
  )
}
