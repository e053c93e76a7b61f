import { Anchor } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { text } from '../i18n/text';
import { Failure } from '../shared/components';
import { hrefOf } from '../shared/router';

interface Props {
  /** Address of the content. Another address renders the content again. */
  address: string;
  children: ReactNode;
}

interface State {
  address: string;
  failure?: { error: unknown };
}

/** Shows the error of a page that cannot be rendered, in its place. The menu stays. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { address: this.props.address };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { failure: { error } };
  }

  static getDerivedStateFromProps({ address }: Props, state: State): State {
    return address === state.address ? state : { address };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    return (
      <div className="scroll">
        <div className="wide">
          <Failure error={failure.error} retry={() => this.setState({ failure: undefined })} />
          <Anchor mt="md" display="block" href={hrefOf({ page: 'chat' })}>
            {text('newChat')}
          </Anchor>
        </div>
      </div>
    );
  }
}
