import { useState } from 'preact/hooks'

interface Props {
  readonly label: string
  /** The question that is asked before it is done. */
  readonly question: string
  readonly disabled: boolean
  readonly onConfirm: () => void
}

/** A button for an action that cannot be taken back: it asks first. */
export function ConfirmedButton({ label, question, disabled, onConfirm }: Props) {
  const [isAsking, setAsking] = useState(false)
  if (!isAsking) {
    return (
      <button type="button" class="danger" disabled={disabled} onClick={() => setAsking(true)}>
        {label}
      </button>
    )
  }
  const confirm = () => {
    setAsking(false)
    onConfirm()
  }
  return (
    <span class="sure">
      {question}
      <button type="button" class="danger" onClick={confirm}>
        Yes
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        No
      </button>
    </span>
  )
}
