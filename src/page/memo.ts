/** A component that is drawn again only when one of its props is another one. */
import { Component, type ComponentChild, createElement, type FunctionComponent } from "preact";

export function memo<P extends object>(draw: (props: P) => ComponentChild): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const keys = Object.keys(next) as (keyof P)[];
      const now = this.props as P;
      return keys.some((key) => next[key] !== now[key]);
    }
    override render() {
      return createElement(draw as FunctionComponent<P>, this.props as P);
    }
  }
  return (props) => createElement(Memo, props);
}
